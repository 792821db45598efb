/** What taking a partition over needs, and what its parts tell each other. */
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

/** For reading a partition's state; nothing of it is written. */
export type ReadContext = {
  readonly partition: number;
  readonly log: Log;
  readonly checkpoints: CheckpointStore | null;
  readonly codec: Codec;
  readonly fold: StateFold;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** How long what a conversation was can matter: its longest life and the longest hold. */
  readonly spanMs: number;
};

export type RestoreContext = ReadContext & {
  readonly ownership: Ownership;
  /** See `TaskContext`. */
  readonly heads: HeadStore | null;
  readonly secrets: RegisteredSecrets | null;
  /**
   * Listeners of this process know the journal up to this record: a checkpoint beyond it would hide
   * records from them. Null: they know nothing yet, and need not.
   */
  readonly reportedSeq: number | null;
  /** Told of each replayed record, before the partition runs. */
  readonly onReplayed: (records: readonly CommittedRecord[]) => void;
  /** How long a recorded offset may be ahead of the journal before the partition is refused. */
  readonly offsetsGraceMs: number;
};

/** What the state was built on; the journal is always replayed after it. */
export type RestoreSource = "inMemory" | "checkpoint" | "journal";

/** What is known of the checkpoint store, for the next save. */
export type StoredMark = {
  /** What it holds, as `CheckpointStore.save` wants to know it. */
  readonly mark: string | null;
  /** False: it did not answer, and what it holds is not known. */
  readonly hasAnswered: boolean;
  /** Of the checkpoint that the state builds on; null: it builds on none that the store has. */
  readonly header: Pick<CheckpointHeader, "seq"> | null;
};

/** A state at some record of the journal. */
export type Start = {
  readonly state: PartitionState;
  /** State hashes of records before this `seq` are not compared: a checkpoint may be newer in parts. */
  readonly hashesFromSeq: number;
  /** Null: it stays as it was told when the state was built. */
  readonly stored: StoredMark | null;
};
