import { FatalError, FencedError } from "../../runtime/errors.ts";
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
import type { RetentionPolicy } from "../../runtime/retention.ts";
import type { PerInput, Topic } from "../../runtime/topics.ts";
import { type MemoryBudget, MemoryTopics } from "./memory-topics.ts";

export type MemoryLogOptions = {
  readonly partitions: number;
  readonly clusterId: string;
  /** The wall clock in ms; append times are taken from it and never go back. */
  readonly nowMs: () => number;
  /** Absent: all records are retained. */
  readonly budget?: MemoryBudget;
};

/** A log in the memory of the process. Readers may share one instance. */
export class MemoryLog implements Log, Ownership {
  readonly partitions: number;
  readonly clusterId: string;
  /** The data itself, for tests that damage it. */
  readonly topics: MemoryTopics;
  readonly #nowMs: () => number;
  readonly #budget: MemoryBudget | undefined;
  readonly #waiting = new Set<() => void>();
  #closed = false;

  constructor(options: MemoryLogOptions) {
    this.partitions = options.partitions;
    this.clusterId = options.clusterId;
    this.#nowMs = options.nowMs;
    this.#budget = options.budget;
    this.topics = new MemoryTopics(options.partitions);
  }

  topicId(topic: Topic): string {
    return `${this.clusterId}/${topic}`;
  }

  async append(records: readonly OutgoingRecord[]): Promise<readonly Appended[]> {
    this.#assertOpen();
    const appended = this.topics.append(records, this.#nowMs());
    this.#wake();
    return appended;
  }

  async read(
    topic: Topic,
    partition: number,
    fromOffset: number,
    limits: ReadLimits,
  ): Promise<ReadResult> {
    this.#assertOpen();
    return this.topics.read(topic, partition, fromOffset, limits);
  }

  async endOffset(topic: Topic, partition: number): Promise<number> {
    this.#assertOpen();
    return this.topics.endOffset(topic, partition);
  }

  async startOffset(topic: Topic, partition: number): Promise<number> {
    this.#assertOpen();
    return this.topics.startOffset(topic, partition);
  }

  waitForNew(
    positions: readonly WaitPosition[],
    timeoutMs: number,
    signal?: AbortSignal,
  ): Promise<void> {
    if (this.#closed || signal?.aborted === true || this.#hasNew(positions)) {
      return Promise.resolve();
    }
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", done);
        this.#waiting.delete(check);
        resolve();
      };
      const check = (): void => {
        if (this.#closed || this.#hasNew(positions)) done();
      };
      const timer = setTimeout(done, timeoutMs);
      timer.unref();
      signal?.addEventListener("abort", done);
      this.#waiting.add(check);
    });
  }

  async takeOver(partition: number): Promise<PartitionWriter> {
    this.#assertOpen();
    const epoch = this.topics.raiseEpoch(partition);
    return {
      partition,
      recordedOffsets: async (): Promise<PerInput> => this.topics.recordedOffsets(partition),
      commit: (batch): Promise<CommitOutcome> => this.#commit(partition, epoch, batch),
      close: async (): Promise<void> => undefined,
    };
  }

  /** Deletes records that are too old, except those that the journal still needs. */
  async applyRetention(policy: RetentionPolicy): Promise<void> {
    this.topics.applyRetention(policy, this.#nowMs());
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#wake();
  }

  async #commit(partition: number, epoch: number, batch: CommitBatch): Promise<CommitOutcome> {
    this.#assertOpen();
    const current = this.topics.epoch(partition);
    if (current !== epoch) {
      throw new FencedError(`partition ${partition} was taken over: epoch ${epoch} < ${current}`);
    }
    const appended = this.topics.append(batch.records, this.#nowMs());
    this.topics.recordOffsets(partition, batch.consumed);
    if (this.#budget !== undefined) this.topics.keepWithin(partition, this.#budget);
    this.#wake();
    return { type: "committed", appended };
  }

  #hasNew(positions: readonly WaitPosition[]): boolean {
    return positions.some((at) => this.topics.endOffset(at.topic, at.partition) > at.offset);
  }

  #wake(): void {
    for (const check of [...this.#waiting]) check();
  }

  #assertOpen(): void {
    if (this.#closed) throw new FatalError("closed", "the log is closed");
  }
}
