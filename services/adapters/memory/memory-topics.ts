import { FatalError } from "../../runtime/errors.ts";
import type {
  Appended,
  LogRecord,
  OutgoingRecord,
  ReadLimits,
  ReadResult,
} from "../../runtime/ports.ts";
import { type LogSpan, type RetentionPolicy, trimTo } from "../../runtime/retention.ts";
import {
  JOURNAL_TOPIC,
  NO_POSITION,
  type PerInput,
  TOPICS,
  type Topic,
} from "../../runtime/topics.ts";

type TopicPartition = {
  startOffset: number;
  records: LogRecord[];
  /** Total size of keys and values. */
  bytes: number;
  lastAppendTimeMs: number;
};

/** Bytes that each topic-partition retains. The oldest records go first; unread inputs stay. */
export type MemoryBudget = { readonly journalBytes: number; readonly otherBytes: number };

/** How far a topic may exceed its budget before all excess records are deleted at once. */
const SLACK = 1.25;

/**
 * The data of a log in memory: topics, partitions, owners' epochs and recorded offsets. All calls
 * are synchronous, so each is atomic.
 */
export class MemoryTopics {
  readonly partitions: number;
  readonly #topics = new Map<Topic, readonly TopicPartition[]>();
  readonly #epochs: number[];
  readonly #recorded: PerInput[];

  constructor(partitions: number) {
    this.partitions = partitions;
    this.#epochs = new Array<number>(partitions).fill(0);
    this.#recorded = new Array<PerInput>(partitions).fill(NO_POSITION);
    for (const topic of TOPICS) {
      const list = Array.from({ length: partitions }, () => ({
        startOffset: 0,
        records: [],
        bytes: 0,
        lastAppendTimeMs: 0,
      }));
      this.#topics.set(topic, list);
    }
  }

  append(records: readonly OutgoingRecord[], nowMs: number): readonly Appended[] {
    for (const record of records) this.#at(record.topic, record.partition);
    return records.map((record) => {
      const at = this.#at(record.topic, record.partition);
      const offset = at.startOffset + at.records.length;
      const appendTimeMs = Math.max(at.lastAppendTimeMs, nowMs);
      at.lastAppendTimeMs = appendTimeMs;
      const stored = {
        offset,
        appendTimeMs,
        key: typeof record.key === "string" ? Buffer.from(record.key) : record.key,
        value: record.value,
        headers: record.headers ?? [],
      };
      at.records.push(stored);
      at.bytes += bytesOf(stored);
      return { offset, appendTimeMs };
    });
  }

  read(topic: Topic, partition: number, fromOffset: number, limits: ReadLimits): ReadResult {
    const at = this.#at(topic, partition);
    if (fromOffset < at.startOffset) {
      throw new FatalError("input_out_of_reach", outOfReach(topic, partition, fromOffset, at));
    }
    const records: LogRecord[] = [];
    let bytes = 0;
    for (let i = fromOffset - at.startOffset; i < at.records.length; i += 1) {
      const record = at.records[i];
      if (record === undefined || records.length >= limits.recordsMax) break;
      bytes += bytesOf(record);
      if (records.length > 0 && bytes > limits.bytesMax) break;
      records.push(record);
    }
    const endOffset = at.startOffset + at.records.length;
    return { records, nextOffset: fromOffset + records.length, endOffset };
  }

  endOffset(topic: Topic, partition: number): number {
    const at = this.#at(topic, partition);
    return at.startOffset + at.records.length;
  }

  startOffset(topic: Topic, partition: number): number {
    return this.#at(topic, partition).startOffset;
  }

  epoch(partition: number): number {
    return this.#epochs[partition] ?? 0;
  }

  raiseEpoch(partition: number): number {
    const epoch = this.epoch(partition) + 1;
    this.#epochs[partition] = epoch;
    return epoch;
  }

  recordedOffsets(partition: number): PerInput {
    return this.#recorded[partition] ?? NO_POSITION;
  }

  recordOffsets(partition: number, offsets: PerInput): void {
    this.#recorded[partition] = offsets;
  }

  applyRetention(policy: RetentionPolicy, nowMs: number): void {
    for (const topic of TOPICS) {
      for (let partition = 0; partition < this.partitions; partition += 1) {
        const consumed = this.recordedOffsets(partition);
        const at = this.#at(topic, partition);
        const spans = at.records.map(asSpan);
        const start = trimTo({ topic, spans, bytes: at.bytes, consumed }, policy, nowMs);
        if (start !== null) this.deleteBefore(topic, partition, start);
      }
    }
  }

  /** Deletes about a fifth at a time, which amortizes the cost. */
  keepWithin(partition: number, { journalBytes, otherBytes }: MemoryBudget): void {
    const consumed: Partial<Record<Topic, number>> = this.recordedOffsets(partition);
    for (const topic of TOPICS) {
      const at = this.#at(topic, partition);
      const bytesMax = topic === JOURNAL_TOPIC ? journalBytes : otherBytes;
      if (at.bytes <= bytesMax * SLACK) continue;
      const limit = consumed[topic] ?? Number.MAX_SAFE_INTEGER;
      let { bytes, startOffset: start } = at;
      for (const record of at.records) {
        if (bytes <= bytesMax || record.offset >= limit) break;
        bytes -= bytesOf(record);
        start = record.offset + 1;
      }
      this.deleteBefore(topic, partition, start);
    }
  }

  /** Moves the log's start, regardless of retention rules. */
  deleteBefore(topic: Topic, partition: number, offset: number): void {
    const at = this.#at(topic, partition);
    const gone = Math.min(offset - at.startOffset, at.records.length);
    if (gone <= 0) return;
    for (const record of at.records.splice(0, gone)) at.bytes -= bytesOf(record);
    at.startOffset += gone;
  }

  #at(topic: Topic, partition: number): TopicPartition {
    const at = this.#topics.get(topic)?.[partition];
    if (at === undefined) {
      throw new FatalError(
        "log_mismatch",
        `there is no partition ${partition} of ${topic}: the log has ${this.partitions}`,
      );
    }
    return at;
  }
}

function asSpan(record: LogRecord): LogSpan {
  return {
    baseOffset: record.offset,
    nextOffset: record.offset + 1,
    appendTimeMs: record.appendTimeMs,
    bytes: bytesOf(record),
  };
}

function bytesOf({ key, value }: LogRecord): number {
  return (key?.length ?? 0) + (value?.length ?? 0);
}

function outOfReach(topic: Topic, partition: number, offset: number, at: TopicPartition): string {
  return `${topic}[${partition}] starts at ${at.startOffset}: offset ${offset} was deleted`;
}
