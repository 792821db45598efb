import type { Acceptance, RegisteredSecrets } from "./anchor.ts";
import type { ConversationBounds } from "./conversation-bounds.ts";
import type { Engine, StateFold } from "./engine.ts";
import { FatalError, type PipelineError, RetryableError } from "./errors.ts";
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
import type { BatchContext, BatchLimits } from "./process-batch.ts";
import type { LocalStates, Start } from "./restore-context.ts";
import { idleRecordAfterMs } from "./retention.ts";

export type TaskState = "restoring" | "running" | "suspended" | "closed";

export type TaskStatus = {
  readonly state: TaskState;
  /**
   * What a client is told while it cannot be answered (`gate_unavailable`). It is `restoring` also
   * for a task that is suspended by an error, which takes the partition over again by itself.
   */
  readonly detail: "restoring" | "running" | "no_policy" | "not_owner" | "failed" | "closed";
  /** The error that stopped the task, where there is one. */
  readonly error: PipelineError | null;
};

export type TaskOptions = {
  readonly batch: BatchLimits;
  /** Bytes that are read ahead of each input topic. */
  readonly readBytesMax: number;
  /** How long in ms a batch may wait to fill; 0: it takes the available inputs. */
  readonly lingerMs: number;
  /** Every n-th journal record carries the hash of the state. */
  readonly hashEvery: number;
  /** Journal records between two checkpoints. */
  readonly checkpointEvery: number;
  /** A partition without a journal record for this many ms gets one. */
  readonly idleRecordAfterMs: number;
  /**
   * How long in ms the past of a conversation can matter: its longest life and the longest hold.
   */
  readonly journalSpanMs: number;
  /**
   * How long in ms a recorded offset may be ahead of the journal before the gate refuses to run the
   * partition.
   */
  readonly offsetsGraceMs: number;
  /** The source that decisions name as CloudEvents; null: they are none. */
  readonly eventSource: string | null;
  /** Longest wait for new inputs, in ms; ticks and idle records are checked between two waits. */
  readonly waitMsMax: number;
};

export type TaskContext = {
  readonly partition: number;
  readonly log: Log;
  readonly ownership: Ownership;
  /** Null: there are no checkpoints, and a restore reads the whole journal. */
  readonly checkpoints: CheckpointStore | null;
  /** Absent or null: all conversations stay in memory, and only checkpoints shorten a restore. */
  readonly states?: LocalStates | null;
  /** Stores how far the journal had come; absent or null: nobody does. */
  readonly heads?: HeadStore | null;
  /** Absent or null: the gate has none, as in a simulation. */
  readonly secrets?: RegisteredSecrets | null;
  readonly codec: Codec;
  readonly fold: StateFold;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly options: TaskOptions;
  /** Shared by all tasks of the process; absent or null: there may be any number of conversations. */
  readonly bounds?: ConversationBounds | null;
  /** Absent: whoever writes proposals is trusted. */
  readonly authority?: ProposalAuthority | undefined;
  /**
   * Returns a state that was prepared before, if there is one: called once, after the first fence.
   */
  readonly prepared?: () => Promise<Start | null>;
};

/**
 * `keepMs`: how long the journal is retained; `journalSpanMs`: how long a conversation can matter.
 */
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
    eventSource: null,
    waitMsMax: 60_000,
  };
}

const TRANSITIONS: Readonly<Record<TaskState, readonly TaskState[]>> = {
  restoring: ["running", "suspended", "closed"],
  running: ["restoring", "suspended", "closed"],
  suspended: ["restoring", "suspended", "closed"],
  closed: [],
};

/** See the diagram in task.ts. @throws FatalError where it has no such arrow. */
export function assertTransition(from: TaskState, to: TaskState): void {
  if (from === to || TRANSITIONS[from].includes(to)) return;
  throw new FatalError("unexpected", `a task cannot go from ${from} to ${to}`);
}

type Now = {
  readonly keepsRecords: boolean;
  /** A loss that no journal record has reported yet. */
  readonly acceptance: Acceptance | null;
};

/** The context of the next batch of a task. */
export function batchContextOf(context: TaskContext, engine: Engine, now: Now): BatchContext {
  const { partition, log, codec, authority, logger, metrics, options } = context;
  return {
    partition,
    partitions: log.partitions,
    hashEvery: options.hashEvery,
    keepsRecords: now.keepsRecords,
    engine,
    codec,
    authority,
    bounds: context.bounds ?? null,
    logger,
    metrics,
    eventSource: options.eventSource,
    anchor: anchorTermsOf(context, now.acceptance),
  };
}

function anchorTermsOf(
  { secrets: registered, options }: TaskContext,
  acceptance: Acceptance | null,
): BatchContext["anchor"] {
  if (registered === null || registered === undefined) return null;
  const { idleRecordAfterMs: repeatAfterMs, journalSpanMs: spanMs } = options;
  return { registered, repeatAfterMs, spanMs, acceptance };
}

export function retryable(error: Error, outcome: "failed" | "unknown"): PipelineError {
  if (error instanceof RetryableError) return error;
  const code = outcome === "unknown" ? "outcome_unknown" : "log_unavailable";
  return new RetryableError(code, `a commit did not succeed: ${error.message}`, { cause: error });
}
