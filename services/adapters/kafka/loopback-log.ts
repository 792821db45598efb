/**
 * A log of one partition inside this process, on which a gate warms up. Inputs are encoded as
 * record batches and decoded again; commits are encoded and dropped. So the gate runs the code that
 * it runs on a cluster, on the same kinds of objects.
 */

import { FatalError } from "../../runtime/errors.ts";
import type {
  Appended,
  CommitBatch,
  CommitOutcome,
  Log,
  OutgoingRecord,
  Ownership,
  PartitionWriter,
  ReadLimits,
  ReadResult,
  WaitPosition,
} from "../../runtime/ports.ts";
import { INPUT_TOPICS, type InputTopic, NO_POSITION, type Topic } from "../../runtime/topics.ts";
import { type BatchRecord, measureBatch, writeBatch } from "./records/encode-batch.ts";
import { stampBatch } from "./records/record-batches.ts";
import { PartitionEnd, Track } from "./records/tracks.ts";
import type { TopicNames } from "./topics/topic-names.ts";
import { toTopicMessages } from "./transactions/outgoing-messages.ts";

const PARTITION = 0;
/** Producer fields of the batches; no broker checks them. */
const PRODUCER = { producerId: 0n, producerEpoch: 0, firstSequence: 0 };

export class LoopbackLog implements Log, Ownership {
  readonly partitions = 1;
  readonly clusterId = "loopback";
  readonly #names: TopicNames;
  readonly #nowMs: () => number;
  readonly #tracks: ReadonlyMap<Topic, Track>;
  /** Number of records appended to each topic. */
  readonly #counts = new Map<Topic, number>();
  readonly #waiting = new Set<() => void>();

  constructor(names: TopicNames, nowMs: () => number) {
    this.#names = names;
    this.#nowMs = nowMs;
    const tracks = INPUT_TOPICS.map((topic): [InputTopic, Track] => {
      const trackedPartition = {
        name: names[topic],
        partition: PARTITION,
        end: new PartitionEnd(),
      };
      return [topic, new Track(trackedPartition, 0, nowMs())];
    });
    this.#tracks = new Map(tracks);
  }

  topicId(topic: Topic): string {
    return `${this.clusterId}/${topic}`;
  }

  /** Records of other topics than the inputs only get offsets, since nobody reads them. */
  async append(records: readonly OutgoingRecord[]): Promise<readonly Appended[]> {
    const appended = this.#assignOffsets(records);
    for (const topic of INPUT_TOPICS) {
      const ofTopic = records.filter((record) => record.topic === topic);
      if (ofTopic.length > 0) this.#feed(topic, ofTopic);
    }
    for (const wake of [...this.#waiting]) wake();
    return appended;
  }

  #feed(topic: InputTopic, records: readonly OutgoingRecord[]): void {
    const track = this.#track(topic);
    const nowMs = this.#nowMs();
    const to = this.#counts.get(topic) ?? 0;
    const [messages] = toTopicMessages(records, this.#names);
    const payload = encode((messages?.messages ?? []) as readonly BatchRecord[], nowMs);
    stampBatch(payload, to - records.length, nowMs);
    const fetched = { topic: track.name, partition: PARTITION, errorCode: 0, stableOffset: to };
    track.feed(
      { ...fetched, aborted: [], payload, from: 0, to: payload.length },
      track.fetchFrom,
      nowMs,
    );
  }

  /** @throws FatalError where `fromOffset` is not where the previous read ended. */
  async read(
    topic: Topic,
    _partition: number,
    fromOffset: number,
    limits: ReadLimits,
  ): Promise<ReadResult> {
    const track = this.#track(topic);
    if (fromOffset !== track.readFrom) {
      throw new FatalError("unexpected", `a loopback log is read in order, not from ${fromOffset}`);
    }
    return { ...track.take(limits, "throw"), endOffset: track.end };
  }

  async endOffset(topic: Topic): Promise<number> {
    return this.#counts.get(topic) ?? 0;
  }

  async startOffset(): Promise<number> {
    return 0;
  }

  waitForNew(
    positions: readonly WaitPosition[],
    timeoutMs: number,
    signal?: AbortSignal,
  ): Promise<void> {
    const hasNew = positions.some(({ topic, offset }) => this.#track(topic).end > offset);
    if (hasNew || signal?.aborted === true) return Promise.resolve();
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", done);
        this.#waiting.delete(done);
        resolve();
      };
      const timer = setTimeout(done, timeoutMs);
      signal?.addEventListener("abort", done);
      this.#waiting.add(done);
    });
  }

  async takeOver(partition: number): Promise<PartitionWriter> {
    return {
      partition,
      recordedOffsets: async () => NO_POSITION,
      commit: (batch) => this.#commit(batch),
      close: async () => undefined,
    };
  }

  async close(): Promise<void> {
    for (const wake of [...this.#waiting]) wake();
  }

  async #commit({ records }: CommitBatch): Promise<CommitOutcome> {
    const nowMs = this.#nowMs();
    for (const { messages } of toTopicMessages(records, this.#names)) {
      encode(messages as readonly BatchRecord[], nowMs);
    }
    // A commit on a cluster lets other tasks run meanwhile; so does this one.
    await new Promise((resolve) => setImmediate(resolve));
    return { type: "committed", appended: this.#assignOffsets(records) };
  }

  #assignOffsets(records: readonly OutgoingRecord[]): readonly Appended[] {
    const appendTimeMs = this.#nowMs();
    return records.map(({ topic }) => {
      const offset = this.#counts.get(topic) ?? 0;
      this.#counts.set(topic, offset + 1);
      return { offset, appendTimeMs };
    });
  }

  #track(topic: Topic): Track {
    const track = this.#tracks.get(topic);
    if (track !== undefined) return track;
    throw new FatalError("unexpected", `a loopback log cannot read \`${topic}\``);
  }
}

function encode(records: readonly BatchRecord[], timestampMs: number): Buffer {
  const batch = measureBatch(records);
  const payload = Buffer.allocUnsafe(batch.bytes);
  writeBatch(payload, 0, batch, { ...PRODUCER, transactional: true, timestampMs });
  return payload;
}
