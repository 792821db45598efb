/**
 * The part of the check `duplicate` for a prior call that failed: where the policy has `retries`, it
 * alone says whether and when a failed call may be tried again. Without `retries`, only
 * `failure_streak` bounds repeats.
 */
import type { PolicyDocument, ToolDocument } from "../policy/document.ts";
import { looksTransient } from "../policy/failure-text.ts";
import { isBeforeInput } from "../state/recent-calls.ts";
import type { PriorCall, PriorFailure } from "../state/state.ts";
import { anyWriteSince } from "../state/writes.ts";
import { type CallContext, type Finding, finding, NOTHING } from "./check.ts";
import { pauseAfter } from "./failure-streak.ts";

/** When a failed call may be tried again. */
export interface Retries {
  /** Attempts in all, with the first. */
  readonly maxAttempts: number;
  /** Numeric error codes, as text. */
  readonly retryableStatus: ReadonlySet<string>;
  /** Shortest and longest wait before the next attempt; null: the policy asks for none. */
  readonly backoffMs: { readonly min: number; readonly max: number } | null;
}

const ATTEMPTS = 3;
const RETRYABLE_STATUS: readonly number[] = [408, 429, 500, 502, 503, 504];

/** The tool's own block, else the block for all tools; for each key the narrower block counts. */
export function compileRetries(document: PolicyDocument, entry: ToolDocument): Retries | null {
  const common = document.tools?.retries;
  if (entry.retries === undefined && common === undefined) return null;
  const { max_attempts, retryable_status, backoff_ms } = { ...common, ...entry.retries };
  const [min, max] = backoff_ms ?? [];
  return {
    maxAttempts: max_attempts ?? ATTEMPTS,
    retryableStatus: new Set((retryable_status ?? RETRYABLE_STATUS).map(String)),
    backoffMs: min === undefined || max === undefined ? null : { min, max },
  };
}

export function findRetry(
  call: CallContext,
  priorCall: PriorCall,
  retries: Retries,
): readonly Finding[] {
  const { failure } = priorCall.trouble;
  if (failure === null || call.isConfirmed) return NOTHING;
  // New user input: the user may want another attempt.
  if (isBeforeInput(priorCall, call.state)) return NOTHING;
  // Something was written since, which may have removed the cause of the failure.
  const repeat = { actionKey: call.actionKey, isRead: call.tool.isRead, resources: null };
  if (anyWriteSince(call.state, repeat, priorCall.n)) return NOTHING;
  if (!isRetryable(retries, priorCall)) return findHopeless(call, priorCall, failure);
  if (failure.count >= retries.maxAttempts) {
    return [exhausted(priorCall, `It was tried ${failure.count} times.`)];
  }
  const waitMs = failure.atMs + backoffMs(retries, failure.count) - call.nowMs;
  return waitMs > 0 ? [tooSoon(priorCall, waitMs)] : NOTHING;
}

/** A failure that does not look as if it may pass: the cause may be gone after the pause of a streak. */
function findHopeless(
  call: CallContext,
  priorCall: PriorCall,
  { atMs, count }: PriorFailure,
): readonly Finding[] {
  const waitMs = atMs + pauseAfter(call.policy.loops, count - 1) - call.nowMs;
  if (waitMs <= 0) return NOTHING;
  const refusal = exhausted(priorCall, "It would fail in the same way again.");
  return [{ ...refusal, retryAfterMs: waitMs, resolution: "retry_after" }];
}

/** The executor's report counts first, then the code against the list, then the error text. */
export function isRetryable(retries: Retries, priorCall: PriorCall): boolean {
  const { failure, errorMessage } = priorCall.trouble;
  if (failure === null) return false;
  if (failure.retryable !== null) return failure.retryable;
  if (failure.code !== null && retries.retryableStatus.has(failure.code)) return true;
  return looksTransient(null, errorMessage ?? "") || looksTransient(null, priorCall.output ?? "");
}

/**
 * Doubles with each failure, between the two bounds. It has no random part: a replay must agree.
 */
export function backoffMs({ backoffMs: written }: Retries, failures: number): number {
  return written === null ? 0 : Math.min(written.max, written.min * 2 ** (failures - 1));
}

function exhausted(priorCall: PriorCall, detail: string): Finding {
  return finding({
    reason: "retry_exhausted",
    rule: "retries",
    disposition: "change_approach",
    detail,
    previous: priorCall,
  });
}

function tooSoon(priorCall: PriorCall, retryAfterMs: number): Finding {
  return finding({
    reason: "retry_too_soon",
    rule: "retries.backoff_ms",
    disposition: "wait",
    previous: priorCall,
    retryAfterMs,
    resolution: "retry_after",
  });
}
