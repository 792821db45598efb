import { FatalError, FencedError, PoisonRecordError } from "../../runtime/errors.ts";
import type {
  Appended,
  CommitBatch,
  CommitOutcome,
  Log,
  OutgoingRecord,
  ReadLimits,
  ReadResult,
  WaitPosition,
} from "../../runtime/ports.ts";
import { type RetentionPolicy, trimTo } from "../../runtime/retention.ts";
import { NO_POSITION, TOPICS, type Topic } from "../../runtime/topics.ts";
import { type PreparedRecord, prepareRecord } from "./chunk.ts";
import type { Environment } from "./environment.ts";
import { PartitionTable } from "./partition-table.ts";

/** How often waiting readers check the log for records of other processes, unless told otherwise. */
const POLL_MS = 100;
/** Larger records are refused: a commit must fit into memory several times. */
const RECORD_BYTES_MAX = 8 * 1024 * 1024;

/** A write that waits for the next transaction. Each write is accepted or refused by itself. */
type PendingWrite = {
  readonly records: readonly OutgoingRecord[];
  readonly prepared: readonly PreparedRecord[];
  /** Throws where the write is not allowed; runs inside the transaction. */
  readonly check: () => void;
  readonly afterwards: () => void;
  readonly resolve: (appended: readonly Appended[]) => void;
  readonly reject: (error: unknown) => void;
};

type Settled =
  | { readonly ok: true; readonly appended: readonly Appended[] }
  | { readonly ok: false; readonly error: unknown };

/**
 * The log in a store. The writes of one turn of the event loop share a transaction and a flush.
 * Offsets and append times are assigned inside the transaction, so any number of processes may
 * append.
 */
export class LmdbLog implements Log {
  readonly #environment: Environment;
  readonly #table: PartitionTable;
  readonly #nowMs: () => number;
  readonly #pollMs: number;
  readonly #waiting = new Set<() => void>();
  #pending: PendingWrite[] = [];
  #poll: NodeJS.Timeout | undefined;

  /** @param nowMs the wall clock; append times are taken from it and never go back. */
  constructor(environment: Environment, nowMs: () => number, pollMs = POLL_MS) {
    this.#environment = environment;
    this.#table = new PartitionTable(environment.tables, environment.identity.partitions);
    this.#nowMs = nowMs;
    this.#pollMs = pollMs;
  }

  get partitions(): number {
    return this.#environment.identity.partitions;
  }

  get clusterId(): string {
    return this.#environment.identity.clusterId;
  }

  topicId(topic: Topic): string {
    return `${this.clusterId}/${topic}`;
  }

  append(records: readonly OutgoingRecord[]): Promise<readonly Appended[]> {
    return this.#enqueue(records, nothing, nothing);
  }

  async read(
    topic: Topic,
    partition: number,
    fromOffset: number,
    limits: ReadLimits,
  ): Promise<ReadResult> {
    return this.#environment.view(() => this.#table.read(topic, partition, fromOffset, limits));
  }

  async endOffset(topic: Topic, partition: number): Promise<number> {
    return this.#environment.view(() => this.#table.bounds(topic, partition).endOffset);
  }

  async startOffset(topic: Topic, partition: number): Promise<number> {
    return this.#environment.view(() => this.#table.bounds(topic, partition).startOffset);
  }

  /** The timers do not keep the process alive. */
  waitForNew(
    positions: readonly WaitPosition[],
    timeoutMs: number,
    signal?: AbortSignal,
  ): Promise<void> {
    if (this.#environment.closed || signal?.aborted === true || this.#hasNew(positions)) {
      return Promise.resolve();
    }
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", done);
        this.#waiting.delete(check);
        if (this.#waiting.size === 0) this.#stopPolling();
        resolve();
      };
      const check = (): void => {
        if (this.#environment.closed || this.#hasNew(positions)) done();
      };
      const timer = setTimeout(done, timeoutMs);
      timer.unref();
      signal?.addEventListener("abort", done);
      this.#waiting.add(check);
      this.#poll ??= setInterval(() => this.#wake(), this.#pollMs).unref();
    });
  }

  /**
   * Fences the previous owner by a higher epoch. Only the holder of the gate role may call it.
   */
  fence(partition: number): { readonly epoch: number } {
    return this.#environment.transact(() => {
      this.#table.bounds("decisions", partition);
      const owner = this.#table.owner(partition);
      const epoch = (owner?.epoch ?? 0) + 1;
      this.#table.setOwner(partition, { epoch, recorded: owner?.recorded ?? NO_POSITION });
      return { epoch };
    });
  }

  recordedOffsets(partition: number): typeof NO_POSITION {
    return this.#environment.view(() => this.#table.owner(partition)?.recorded ?? NO_POSITION);
  }

  /** @throws FencedError where the partition has a later epoch than `epoch`. */
  async commit(partition: number, epoch: number, batch: CommitBatch): Promise<CommitOutcome> {
    const check = (): void => {
      const current = this.#table.owner(partition)?.epoch ?? 0;
      if (current === epoch) return;
      throw new FencedError(`partition ${partition} was taken over: epoch ${epoch} < ${current}`);
    };
    const record = (): void => {
      this.#table.setOwner(partition, { epoch, recorded: batch.consumed });
    };
    try {
      return { type: "committed", appended: await this.#enqueue(batch.records, check, record) };
    } catch (error) {
      if (error instanceof FencedError || error instanceof FatalError) throw error;
      const mappedError = this.#environment.mapError(error);
      if (mappedError instanceof PoisonRecordError) {
        return { type: "failed", oversize: true, error: mappedError };
      }
      return { type: "unknown", error: mappedError };
    }
  }

  /** Deletes records that are too old, except those that the journal still needs. */
  async applyRetention(policy: RetentionPolicy): Promise<void> {
    for (const topic of TOPICS) {
      for (let partition = 0; partition < this.partitions; partition += 1) {
        this.#environment.transact(() => {
          const consumed = this.#table.owner(partition)?.recorded ?? NO_POSITION;
          const { bytes } = this.#table.bounds(topic, partition);
          const spans = this.#table.spans(topic, partition);
          const start = trimTo({ topic, spans, bytes, consumed }, policy, this.#nowMs());
          if (start !== null) this.#table.deleteBefore(topic, partition, start);
        });
      }
    }
  }

  /** Writes pending records, then closes the store. */
  async close(): Promise<void> {
    if (this.#environment.closed) return;
    this.#flush();
    await this.#environment.close();
    this.#stopPolling();
    this.#wake();
  }

  #enqueue(
    records: readonly OutgoingRecord[],
    check: () => void,
    afterwards: () => void,
  ): Promise<readonly Appended[]> {
    if (this.#environment.closed) {
      return Promise.reject(new FatalError("closed", "the log is closed"));
    }
    return new Promise((resolve, reject) => {
      const prepared = records.map((record) => this.#prepare(record));
      if (this.#pending.length === 0) setImmediate(() => this.#flush());
      this.#pending.push({ records, prepared, check, afterwards, resolve, reject });
    });
  }

  #prepare(record: OutgoingRecord): PreparedRecord {
    assertPartition(record, this.partitions);
    const prepared = prepareRecord(record);
    if (prepared.bytes <= RECORD_BYTES_MAX) return prepared;
    throw new PoisonRecordError(
      "too_large",
      `a record of ${prepared.bytes} bytes exceeds the log's limit of ${RECORD_BYTES_MAX}`,
    );
  }

  #flush(): void {
    const writes = this.#pending;
    if (writes.length === 0) return;
    this.#pending = [];
    let settled: readonly Settled[];
    try {
      settled = this.#environment.transact(() => this.#write(writes));
    } catch (error) {
      for (const write of writes) write.reject(error);
      return;
    }
    for (const [index, write] of writes.entries()) {
      const outcome = settled[index];
      if (outcome?.ok === true) write.resolve(outcome.appended);
      else write.reject(outcome?.error);
    }
    this.#wake();
  }

  /** Groups the records of all writes by topic-partition, so that chunks are few and large. */
  #write(writes: readonly PendingWrite[]): readonly Settled[] {
    const nowMs = this.#nowMs();
    const groups = new Groups();
    const settled = writes.map((write): Settled => {
      try {
        write.check();
      } catch (error) {
        return { ok: false, error };
      }
      write.afterwards();
      const appended: Appended[] = [];
      groups.collect(write, appended);
      return { ok: true, appended };
    });
    for (const { topic, partition, records, appended, indexes } of groups.all) {
      const { baseOffset, appendTimeMs } = this.#table.append(topic, partition, records, nowMs);
      for (let at = 0; at < records.length; at += 1) {
        const into = appended[at] as Appended[];
        into[indexes[at] as number] = { offset: baseOffset + at, appendTimeMs };
      }
    }
    return settled;
  }

  #hasNew(positions: readonly WaitPosition[]): boolean {
    try {
      return this.#environment.view(() =>
        positions.some((at) => this.#table.bounds(at.topic, at.partition).endOffset > at.offset),
      );
    } catch {
      // The wait ends, and the read that follows reports the error.
      return true;
    }
  }

  #wake(): void {
    for (const check of [...this.#waiting]) check();
  }

  #stopPolling(): void {
    clearInterval(this.#poll);
    this.#poll = undefined;
  }
}

type Group = {
  readonly topic: Topic;
  readonly partition: number;
  readonly records: PreparedRecord[];
  /** For each record, the list that gets its offset, and the index in it. */
  readonly appended: Appended[][];
  readonly indexes: number[];
};

/** The records of several writes by topic-partition, in order of arrival. */
class Groups {
  readonly all: Group[] = [];

  collect(write: PendingWrite, appended: Appended[]): void {
    for (let index = 0; index < write.prepared.length; index += 1) {
      const record = write.records[index];
      const prepared = write.prepared[index];
      if (record === undefined || prepared === undefined) continue;
      const group = this.#of(record.topic, record.partition);
      group.records.push(prepared);
      group.appended.push(appended);
      group.indexes.push(index);
    }
  }

  /** Linear search: the groups are few, and a combined key would cost more. */
  #of(topic: Topic, partition: number): Group {
    for (const group of this.all) {
      if (group.topic === topic && group.partition === partition) return group;
    }
    const group = { topic, partition, records: [], appended: [], indexes: [] };
    this.all.push(group);
    return group;
  }
}

function assertPartition(record: OutgoingRecord, partitions: number): void {
  const { topic, partition } = record;
  if (Number.isInteger(partition) && partition >= 0 && partition < partitions) return;
  throw new FatalError(
    "log_mismatch",
    `there is no partition ${partition} of ${topic}: the log has ${partitions}`,
  );
}

function nothing(): void {
  // An append from outside the gate has nothing to check and nothing to record.
}
