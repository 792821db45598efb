// The outside of the stream task: a log, its owners and a checkpoint store that fail as real ones
// do. The memory adapter, which passes the contract suite, stores the data; this file adds the
// faults.
import { MemoryCheckpoints } from "../../../services/adapters/memory/memory-checkpoints.ts";
import { MemoryTopics } from "../../../services/adapters/memory/memory-topics.ts";
import { FencedError, RetryableError } from "../../../services/runtime/errors.ts";
import type { JournalRecord } from "../../../services/runtime/journal.ts";
import type {
  Appended,
  Checkpoint,
  CheckpointStore,
  Clock,
  CommitBatch,
  CommitOutcome,
  LoadedCheckpoint,
  Log,
  LogRecord,
  OutgoingRecord,
  Ownership,
  PartitionWriter,
  ReadResult,
  WaitPosition,
} from "../../../services/runtime/ports.ts";
import type { LocalStates } from "../../../services/runtime/restore-context.ts";
import type { PerInput, Topic } from "../../../services/runtime/topics.ts";
import { FakeStores } from "./fake-stores.ts";
import type { FaultRates } from "./faults.ts";
import { decodeJson } from "./json-codec.ts";
import type { Scheduler, SimulatedProcess } from "./scheduler.ts";

export const CLUSTER_ID = "simulated";
/** A batch with a larger record is refused as too large. */
export const RECORD_BYTES_MAX = 20_000;

export type Outside = {
  readonly log: Log;
  readonly ownership: Ownership;
  readonly checkpoints: CheckpointStore;
  readonly states: LocalStates | null;
  readonly clock: Clock;
};

export class FakeWorld {
  readonly topics: MemoryTopics;
  readonly scheduler: Scheduler;
  faults: FaultRates;
  /** False: the log accepts a commit of a fenced owner. */
  fencing = true;
  /** Crash points that occurred, as `operation:before` or `operation:after`. */
  readonly struck = new Set<string>();
  /** How many faults of each kind occurred. */
  readonly happened = new Map<string, number>();
  /** Called when a process dies at an operation. */
  onCrash: (process: SimulatedProcess) => void = () => undefined;
  readonly #checkpoints = new MemoryCheckpoints();
  readonly #stores: FakeStores;
  readonly #oldCheckpoints: Checkpoint[] = [];
  readonly #network: SimulatedProcess = { name: "network", alive: true, pausedSteps: 0 };
  readonly #foreign: () => Checkpoint | null;
  readonly #skew: number;

  constructor(options: {
    readonly scheduler: Scheduler;
    readonly partitions: number;
    /** The partition that processes run. */
    readonly partition: number;
    readonly faults: FaultRates;
    /** A checkpoint of another log or of another history; null: none. */
    readonly foreign: () => Checkpoint | null;
    /** Largest step back of an append time, ms. */
    readonly skewMs: number;
  }) {
    this.scheduler = options.scheduler;
    this.topics = new MemoryTopics(options.partitions);
    this.faults = options.faults;
    this.#stores = new FakeStores(
      options.scheduler.random,
      (kind) => this.roll(kind),
      (owner, name, effect) => this.#call(owner, name, effect, false),
      options.partition,
    );
    this.#foreign = options.foreign;
    this.#skew = options.skewMs;
  }

  append(records: readonly OutgoingRecord[]): readonly Appended[] {
    return this.topics.append(records, this.scheduler.nowMs);
  }

  connect(process: SimulatedProcess): Outside {
    return {
      log: this.#log(process),
      ownership: { takeOver: (partition) => this.#takeOver(process, partition) },
      checkpoints: this.#checkpointStore(process),
      states: this.#stores.attach(process),
      clock: this.#clock(process),
    };
  }

  roll(kind: keyof FaultRates): boolean {
    if (!this.scheduler.random.chance(this.faults[kind])) return false;
    this.happened.set(kind, (this.happened.get(kind) ?? 0) + 1);
    return true;
  }

  /** One call to the outside: waits for its turn, and may be the last action of its process. */
  #call<T>(owner: SimulatedProcess, name: string, effect: () => T, fallible = true): Promise<T> {
    return this.#operation(owner, name, {}, () => {
      if (fallible && this.roll("logError")) {
        throw new RetryableError("log_unavailable", `simulated failure of ${name}`);
      }
      return effect();
    });
  }

  #operation<T>(
    owner: SimulatedProcess,
    name: string,
    when: { readonly dueMs?: number; readonly ready?: () => boolean },
    effect: () => T,
  ): Promise<T> {
    return new Promise((resolve, reject) => {
      if (!owner.alive) return;
      const run = (): void => {
        if (this.#mayCrash(owner, `${name}:before`)) return;
        let settle: () => void;
        try {
          const value = effect();
          settle = () => resolve(value);
        } catch (error) {
          settle = () => reject(error);
        }
        if (this.#mayCrash(owner, `${name}:after`)) return;
        settle();
      };
      this.scheduler.submit({ owner, name, run, ...when });
    });
  }

  #mayCrash(owner: SimulatedProcess, point: string): boolean {
    if (!this.roll("crash")) return false;
    this.struck.add(point);
    this.scheduler.kill(owner);
    this.onCrash(owner);
    return true;
  }

  #log(owner: SimulatedProcess): Log {
    return {
      partitions: this.topics.partitions,
      clusterId: CLUSTER_ID,
      topicId: (topic) => `${CLUSTER_ID}/${topic}`,
      append: (records) =>
        this.#call(owner, `append:${records[0]?.topic}`, () => this.append(records)),
      read: (topic, partition, offset, limits) =>
        this.#call(owner, `read:${topic}`, () =>
          this.#worn(topic, this.topics.read(topic, partition, offset, limits)),
        ),
      endOffset: (topic, partition) =>
        this.#call(owner, "endOffset", () => this.topics.endOffset(topic, partition)),
      startOffset: (topic, partition) =>
        this.#call(owner, "startOffset", () => this.topics.startOffset(topic, partition)),
      waitForNew: (positions, timeoutMs, signal) => this.#wait(owner, positions, timeoutMs, signal),
      close: async () => undefined,
    };
  }

  /** What a reader sees: append times may step back, and a record may be missing. */
  #worn(topic: Topic, result: ReadResult): ReadResult {
    if (topic === "decisions") {
      if (result.records.length < 2 || !this.roll("tornRead")) return result;
      const gone = this.scheduler.random.integer(0, result.records.length - 1);
      // Only the chain shows that such a record is missing, and no record follows the last one.
      if (movesNothing(result.records[gone])) return result;
      return { ...result, records: result.records.filter((_, index) => index !== gone) };
    }
    const isInput = topic === "proposals" || topic === "results" || topic === "verdicts";
    if (!isInput || this.#skew === 0) return result;
    return { ...result, records: result.records.map((record) => this.#skewed(record)) };
  }

  #skewed(record: LogRecord): LogRecord {
    const backMs = (record.offset * 7_919) % 5 === 0 ? this.#skew : 0;
    return { ...record, appendTimeMs: record.appendTimeMs - backMs };
  }

  #wait(
    owner: SimulatedProcess,
    positions: readonly WaitPosition[],
    timeoutMs: number,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const ready = (): boolean =>
      signal?.aborted === true ||
      positions.some((at) => this.topics.endOffset(at.topic, at.partition) > at.offset);
    const dueMs = this.scheduler.nowMs + timeoutMs;
    return this.#operation(owner, "waitForNew", { dueMs, ready }, () => undefined);
  }

  #clock(owner: SimulatedProcess): Clock {
    return {
      nowMs: () => this.scheduler.nowMs,
      sleep: (timeMs, signal) => {
        const ready = (): boolean => signal?.aborted === true;
        const dueMs = this.scheduler.nowMs + timeMs;
        return this.#operation(owner, "sleep", { dueMs, ready }, () => undefined);
      },
    };
  }

  async #takeOver(owner: SimulatedProcess, partition: number): Promise<PartitionWriter> {
    const epoch = await this.#call(owner, "takeOver", () => this.topics.raiseEpoch(partition));
    return {
      partition,
      recordedOffsets: (): Promise<PerInput> =>
        this.#call(owner, "recordedOffsets", () => this.topics.recordedOffsets(partition)),
      commit: (batch): Promise<CommitOutcome> =>
        this.#call(owner, "commit", () => this.#commit(partition, epoch, batch), false),
      close: (): Promise<void> => this.#call(owner, "closeWriter", () => undefined, false),
    };
  }

  #commit(partition: number, epoch: number, batch: CommitBatch): CommitOutcome {
    this.#assertEpoch(partition, epoch);
    const error = new Error("simulated");
    if (batch.records.some(({ value }) => (value?.length ?? 0) > RECORD_BYTES_MAX)) {
      return { type: "failed", oversize: true, error };
    }
    if (this.roll("commitFailed")) return { type: "failed", oversize: false, error };
    if (this.roll("commitUnknownNotDone")) return { type: "unknown", error };
    if (this.roll("commitLate")) {
      this.#arriveLate(partition, epoch, batch);
      return { type: "unknown", error };
    }
    const outcome = this.#apply(partition, batch);
    return this.roll("commitUnknownDone") ? { type: "unknown", error } : outcome;
  }

  #arriveLate(partition: number, epoch: number, batch: CommitBatch): void {
    const run = (): void => {
      if (!this.fencing || this.topics.epoch(partition) === epoch) this.#apply(partition, batch);
    };
    const dueMs = this.scheduler.nowMs + this.scheduler.random.integer(0, 2_000);
    this.scheduler.submit({ owner: this.#network, name: "late", dueMs, run });
  }

  #apply(partition: number, batch: CommitBatch): CommitOutcome {
    const appended = this.topics.append(batch.records, this.scheduler.nowMs);
    this.topics.recordOffsets(partition, batch.consumed);
    return { type: "committed", appended };
  }

  #assertEpoch(partition: number, epoch: number): void {
    if (!this.fencing || this.topics.epoch(partition) === epoch) return;
    throw new FencedError(`epoch ${epoch} is over`);
  }

  #checkpointStore(owner: SimulatedProcess): CheckpointStore {
    const fail = (): void => {
      if (this.roll("checkpointError")) {
        throw new RetryableError("checkpoint_unavailable", "simulated");
      }
    };
    return {
      load: async (partition) => {
        const loaded = await this.#checkpoints.load(partition);
        return this.#call(owner, "load", () => {
          fail();
          return this.#wornCheckpoint(loaded);
        });
      },
      look: async (partition) => {
        fail();
        const { mark, checkpoint } = this.#wornCheckpoint(await this.#checkpoints.load(partition));
        return { mark, header: checkpoint?.header ?? null };
      },
      save: async (partition, update, mark) => {
        await this.#call(owner, "save", fail);
        const before = await this.#checkpoints.load(partition);
        if (before.checkpoint !== null && !update.replace && this.roll("checkpointPartial")) {
          // Some blobs are stored, the header is still the old one, and the save fails.
          const some = [...update.upserts].slice(0, 1);
          const { header } = before.checkpoint;
          await this.#checkpoints.save(
            partition,
            { header, replace: false, upserts: some, removals: [] },
            mark,
          );
          throw new RetryableError("checkpoint_unavailable", "simulated");
        }
        const saved = await this.#checkpoints.save(partition, update, mark);
        const { checkpoint } = await this.#checkpoints.load(partition);
        if (checkpoint !== null) this.#oldCheckpoints.push(checkpoint);
        return saved;
      },
    };
  }

  #wornCheckpoint(loaded: LoadedCheckpoint): LoadedCheckpoint {
    const { random } = this.scheduler;
    if (this.roll("checkpointForeign")) {
      const foreign = this.#foreign();
      return foreign === null ? loaded : { ...loaded, checkpoint: foreign };
    }
    if (this.#oldCheckpoints.length > 0 && this.roll("checkpointStale")) {
      return { ...loaded, checkpoint: random.pick(this.#oldCheckpoints) };
    }
    const { checkpoint } = loaded;
    if (checkpoint === null || checkpoint.blobs.length === 0) return loaded;
    if (!this.roll("checkpointTorn")) return loaded;
    return { ...loaded, checkpoint: this.#torn(checkpoint) };
  }

  /** A checkpoint in which a conversation is missing, or older than the header says. */
  #torn(checkpoint: Checkpoint): Checkpoint {
    const { random } = this.scheduler;
    const torn = random.integer(0, checkpoint.blobs.length - 1);
    const key = checkpoint.blobs[torn]?.key;
    const older = this.#oldCheckpoints
      .flatMap(({ blobs }) => blobs)
      .find((blob) => blob.key === key && blob.seq < (checkpoint.blobs[torn]?.seq ?? 0));
    const rest = checkpoint.blobs.filter((_, index) => index !== torn);
    return { ...checkpoint, blobs: older === undefined ? rest : [...rest, older] };
  }
}

/** Whether the offsets to read next are the same without the record: it is idle, or decided ahead. */
function movesNothing(record: LogRecord | undefined): boolean {
  const { input, next } = decodeJson<JournalRecord>(record?.value ?? null);
  return input.type === "idle" || input.at.offset >= next[input.at.topic];
}
