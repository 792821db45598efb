/** What a take-over of a partition needs, and what its parts pass to each other. */
import type { RegisteredSecrets } from "./anchor.ts";
import type { StateFold } from "./engine.ts";
import type { CommittedRecord } from "./journal.ts";
import type { HeadStore } from "./journal-head.ts";
import type { PartitionState } from "./partition-state.ts";
import type {
  CheckpointHeader,
  CheckpointStore,
  Clock,
  Codec,
  Log,
  Logger,
  Metrics,
  Ownership,
} from "./ports.ts";
import type { StateStore } from "./state-store.ts";

/** The store of this process, and how much of it may be in memory. */
export type LocalStates = {
  readonly store: StateStore;
  /** For each partition: bytes of conversations and their indexes. */
  readonly memoryBytes: () => number;
  /** See `StateSaverContext`. */
  readonly stepBytes?: number | undefined;
};

/** For reading a partition's state without writing anything. */
export type ReadContext = {
  readonly partition: number;
  readonly log: Log;
  readonly checkpoints: CheckpointStore | null;
  /** Null: all conversations stay in memory. */
  readonly states: LocalStates | null;
  readonly codec: Codec;
  readonly fold: StateFold;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /**
   * How long in ms the past of a conversation can matter: its longest life and the longest hold.
   */
  readonly spanMs: number;
};

export type RestoreContext = ReadContext & {
  /** What the state store has could not be read. */
  readonly distrustsStore: boolean;
  readonly ownership: Ownership;
  /** See `TaskContext`. */
  readonly heads: HeadStore | null;
  readonly secrets: RegisteredSecrets | null;
  /**
   * Listeners of this process know the journal up to this record: a checkpoint beyond it would hide
   * records from them. Null: they know nothing yet, and need not.
   */
  readonly reportedSeq: number | null;
  /** Called before a replay begins on a state, and after each stretch of it. */
  readonly onStart: (start: Start) => void;
  readonly makeRoom: (state: PartitionState) => Promise<void>;
  /** Called with all replayed records, before the partition runs. */
  readonly onReplayed: (records: readonly CommittedRecord[]) => void;
  /**
   * How long a recorded offset may be ahead of the journal before the gate refuses to run the
   * partition.
   */
  readonly offsetsGraceMs: number;
};

/** What the state was built on; the journal is always replayed after it. */
export type RestoreSource = "inMemory" | "store" | "checkpoint" | "journal";

/** What the task knows of the checkpoint store, for the next save. */
export type StoredMark = {
  /** What the store holds, as `CheckpointStore.save` expects it. */
  readonly mark: string | null;
  /** False: the store did not answer, and its content is not known. */
  readonly hasAnswered: boolean;
  /** Header of the checkpoint that the state builds on; null: the store has no such checkpoint. */
  readonly header: Pick<CheckpointHeader, "seq"> | null;
};

/** A state at some record of the journal. */
export type Start = {
  readonly state: PartitionState;
  /** State hashes of records before this `seq` are not compared: a checkpoint may be newer in parts. */
  readonly hashesFromSeq: number;
  /** Null: unchanged since the state was built. */
  readonly stored: StoredMark | null;
  /** `seq` of the position in the state store; 0: it has nothing of this state. Null as for `stored`. */
  readonly inStoreSeq: number | null;
};
