import { FatalError } from "../../runtime/errors.ts";
import type { LogRecord, ReadLimits, ReadResult } from "../../runtime/ports.ts";
import type { LogSpan } from "../../runtime/retention.ts";
import type { PerInput, Topic } from "../../runtime/topics.ts";
import {
  CHUNK_BYTES_MAX,
  CHUNK_RECORDS_MAX,
  decodeChunk,
  encodeChunk,
  type PreparedRecord,
  peekChunk,
} from "./chunk.ts";
import type { Tables } from "./environment.ts";
import { baseOffsetOf, chunkKey, makeNameKey, partitionKey } from "./keys.ts";

type Bounds = {
  readonly startOffset: number;
  readonly endOffset: number;
  readonly lastAppendTimeMs: number;
  /** Total size of the chunks. */
  readonly bytes: number;
};

/** The owner of a partition: its epoch, and the input offsets that it recorded. */
export type OwnerEntry = { readonly epoch: number; readonly recorded: PerInput };

const EMPTY: Bounds = { startOffset: 0, endOffset: 0, lastAppendTimeMs: 0, bytes: 0 };
const BOUNDS_BYTES = 32;

/** The topic-partitions in the store's tables. The caller must run each method in a transaction. */
export class PartitionTable {
  readonly #tables: Tables;
  readonly #partitions: number;

  constructor(tables: Tables, partitions: number) {
    this.#tables = tables;
    this.#partitions = partitions;
  }

  bounds(topic: Topic, partition: number): Bounds {
    if (!Number.isInteger(partition) || partition < 0 || partition >= this.#partitions) {
      throw new FatalError(
        "log_mismatch",
        `there is no partition ${partition} of ${topic}: the log has ${this.#partitions}`,
      );
    }
    const bytes = this.#tables.partitions.get(partitionKey(topic, partition));
    if (bytes === undefined) return EMPTY;
    return {
      startOffset: bytes.readDoubleLE(0),
      endOffset: bytes.readDoubleLE(8),
      lastAppendTimeMs: bytes.readDoubleLE(16),
      bytes: bytes.readDoubleLE(24),
    };
  }

  /** Appends in order; returns the first record's offset and the common append time. */
  append(
    topic: Topic,
    partition: number,
    records: readonly PreparedRecord[],
    nowMs: number,
  ): { readonly baseOffset: number; readonly appendTimeMs: number } {
    const bounds = this.bounds(topic, partition);
    const appendTimeMs = Math.max(bounds.lastAppendTimeMs, nowMs);
    let offset = bounds.endOffset;
    let { bytes } = bounds;
    for (const group of intoChunks(records)) {
      const chunk = encodeChunk(group, appendTimeMs);
      this.#tables.chunks.putSync(chunkKey(topic, partition, offset), chunk);
      offset += group.length;
      bytes += chunk.length;
    }
    this.#putBounds(topic, partition, {
      startOffset: bounds.startOffset,
      endOffset: offset,
      lastAppendTimeMs: appendTimeMs,
      bytes,
    });
    return { baseOffset: bounds.endOffset, appendTimeMs };
  }

  read(topic: Topic, partition: number, fromOffset: number, limits: ReadLimits): ReadResult {
    const bounds = this.bounds(topic, partition);
    if (fromOffset < bounds.startOffset) {
      throw new FatalError(
        "input_out_of_reach",
        `${topic}[${partition}] starts at ${bounds.startOffset}: offset ${fromOffset} was deleted`,
      );
    }
    const { endOffset } = bounds;
    const records: LogRecord[] = [];
    let offset = fromOffset;
    let bytes = 0;
    let base = offset < endOffset ? this.#baseOf(topic, partition, offset) : offset;
    while (offset < endOffset) {
      const chunk = this.#tables.chunks.get(chunkKey(topic, partition, base));
      if (chunk === undefined) throw missing(topic, partition, base);
      const held = decodeChunk(chunk, base);
      for (const record of held.slice(offset - base)) {
        bytes += (record.key?.length ?? 0) + (record.value?.length ?? 0);
        const full = records.length >= limits.recordsMax || bytes > limits.bytesMax;
        if (full && records.length > 0) return { records, nextOffset: offset, endOffset };
        records.push(record);
        offset += 1;
      }
      base += held.length;
    }
    return { records, nextOffset: offset, endOffset };
  }

  owner(partition: number): OwnerEntry | undefined {
    const bytes = this.#tables.byName.get(makeNameKey("owner", partition));
    return bytes === undefined ? undefined : (JSON.parse(bytes.toString("utf8")) as OwnerEntry);
  }

  setOwner(partition: number, owner: OwnerEntry): void {
    this.#tables.byName.putSync(
      makeNameKey("owner", partition),
      Buffer.from(JSON.stringify(owner)),
    );
  }

  /** Lists the chunks lazily, oldest first. */
  *spans(topic: Topic, partition: number): Generator<LogSpan> {
    const range = { start: chunkKey(topic, partition, 0), end: chunkKey(topic, partition + 1, 0) };
    for (const { key, value } of this.#tables.chunks.getRange(range)) {
      const { count, appendTimeMs } = peekChunk(value);
      const baseOffset = baseOffsetOf(key);
      const nextOffset = baseOffset + count;
      yield { baseOffset, nextOffset, appendTimeMs, bytes: value.length };
    }
  }

  /** `offset` must be the base of a chunk or the end of the log. */
  deleteBefore(topic: Topic, partition: number, offset: number): void {
    const bounds = this.bounds(topic, partition);
    if (offset <= bounds.startOffset) return;
    const gone: LogSpan[] = [];
    for (const span of this.spans(topic, partition)) {
      if (span.nextOffset > offset) break;
      gone.push(span);
    }
    let { bytes } = bounds;
    for (const span of gone) {
      this.#tables.chunks.removeSync(chunkKey(topic, partition, span.baseOffset));
      bytes -= span.bytes;
    }
    this.#putBounds(topic, partition, { ...bounds, startOffset: offset, bytes });
  }

  #baseOf(topic: Topic, partition: number, offset: number): number {
    if (this.#tables.chunks.doesExist(chunkKey(topic, partition, offset))) return offset;
    const range = {
      start: chunkKey(topic, partition, offset),
      end: chunkKey(topic, partition, 0),
      reverse: true,
      limit: 1,
    };
    for (const key of this.#tables.chunks.getKeys(range)) return baseOffsetOf(key);
    // Since `end` is exclusive, the range lacks only the chunk at the very start of a log.
    return 0;
  }

  #putBounds(topic: Topic, partition: number, bounds: Bounds): void {
    const bytes = Buffer.allocUnsafe(BOUNDS_BYTES);
    bytes.writeDoubleLE(bounds.startOffset, 0);
    bytes.writeDoubleLE(bounds.endOffset, 8);
    bytes.writeDoubleLE(bounds.lastAppendTimeMs, 16);
    bytes.writeDoubleLE(bounds.bytes, 24);
    this.#tables.partitions.putSync(partitionKey(topic, partition), bytes);
  }
}

function intoChunks(records: readonly PreparedRecord[]): readonly (readonly PreparedRecord[])[] {
  const chunks: PreparedRecord[][] = [];
  let current: PreparedRecord[] = [];
  let bytes = 0;
  for (const record of records) {
    const full = current.length >= CHUNK_RECORDS_MAX || bytes + record.bytes > CHUNK_BYTES_MAX;
    if (full && current.length > 0) {
      chunks.push(current);
      current = [];
      bytes = 0;
    }
    current.push(record);
    bytes += record.bytes;
  }
  if (current.length > 0) chunks.push(current);
  return chunks;
}

function missing(topic: Topic, partition: number, base: number): FatalError {
  return new FatalError(
    "log_corrupt",
    `${topic}[${partition}] has no records at offset ${base}, but has later ones: restore ` +
      "the data directory from a backup, or move it away to start with an empty one",
  );
}
