/** Builds the context of a task's batches from the context of the task. */
import type { Acceptance } from "./anchor.ts";
import type { Engine } from "./engine.ts";
import { type PipelineError, RetryableError } from "./errors.ts";
import type { BatchContext } from "./process-batch.ts";
import type { TaskContext } from "./task-context.ts";

type Now = {
  readonly keepsRecords: boolean;
  /** A loss that no journal record has reported yet. */
  readonly acceptance: Acceptance | null;
};

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
    logger,
    metrics,
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
