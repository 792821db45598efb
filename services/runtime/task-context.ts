import type { RegisteredSecrets } from "./anchor.ts";
import type { StateFold } from "./engine.ts";
import type { PipelineError } from "./errors.ts";
import { STATE_HASH_EVERY } from "./journal.ts";
import type { HeadStore } from "./journal-head.ts";
import type {
  CheckpointStore,
  Clock,
  Codec,
  Log,
  Logger,
  Metrics,
  Ownership,
  ProposalAuthority,
} from "./ports.ts";
import type { BatchLimits } from "./process-batch.ts";
import type { Start } from "./restore-context.ts";
import { idleRecordAfterMs } from "./retention.ts";

export type TaskState = "restoring" | "running" | "suspended" | "closed";

export type TaskStatus = {
  readonly state: TaskState;
  /** What a client is told that cannot be answered (`gate_unavailable`). */
  readonly detail: "restoring" | "running" | "no_policy" | "not_owner" | "failed" | "closed";
  /** Why it is not running, where an error is the cause. */
  readonly error: PipelineError | null;
};

export type TaskOptions = {
  readonly batch: BatchLimits;
  /** Bytes read ahead of each input topic. */
  readonly readBytesMax: number;
  /** How long a batch may wait to fill; 0: it takes what is there. */
  readonly lingerMs: number;
  /** Every n-th journal record carries the hash of the state. */
  readonly hashEvery: number;
  /** Journal records between two checkpoints. */
  readonly checkpointEvery: number;
  /** A partition without a journal record for this long gets one. */
  readonly idleRecordAfterMs: number;
  /** How long what a conversation was can matter: its longest life and the longest hold. */
  readonly journalSpanMs: number;
  /** How long a recorded offset may be ahead of the journal before the partition is refused. */
  readonly offsetsGraceMs: number;
  /** Longest wait for new inputs; ticks and idle records are looked at in between. */
  readonly waitMsMax: number;
};

export type TaskContext = {
  readonly partition: number;
  readonly log: Log;
  readonly ownership: Ownership;
  /** Null: none are kept, a restore reads the whole journal. */
  readonly checkpoints: CheckpointStore | null;
  /** Where it is known how far the journal had come; absent or null: nowhere. */
  readonly heads?: HeadStore | null;
  /** Absent or null: the gate has none, as in a simulation. */
  readonly secrets?: RegisteredSecrets | null;
  readonly codec: Codec;
  readonly fold: StateFold;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly options: TaskOptions;
  /** Absent: whoever writes proposals is trusted. */
  readonly authority?: ProposalAuthority | undefined;
  /** A state that was made ready before, if there is one: asked for once, after the first fence. */
  readonly prepared?: () => Promise<Start | null>;
};

/** `keepMs`: how long the journal is kept; `journalSpanMs`: how long a conversation matters. */
export function defaultTaskOptions(times: {
  readonly keepMs: number;
  readonly journalSpanMs: number;
}): TaskOptions {
  return {
    batch: { inputsMax: 500, bytesMax: 2 * 1024 * 1024 },
    readBytesMax: 4 * 1024 * 1024,
    lingerMs: 0,
    hashEvery: STATE_HASH_EVERY,
    checkpointEvery: 50_000,
    idleRecordAfterMs: idleRecordAfterMs(times.keepMs),
    journalSpanMs: times.journalSpanMs,
    offsetsGraceMs: 30_000,
    waitMsMax: 60_000,
  };
}
