/**
 * The part of the check `loops` for one call that fails again and again with one error. A streak ends:
 * after a pause, which the refusal names and which doubles with each further failure, the next try runs.
 */
import type { LoopThresholds } from "../policy/compiled.ts";
import type { RecentCall } from "../state/state.ts";
import { anyWriteSince } from "../state/writes.ts";
import { type CallContext, type Finding, finding } from "./check.ts";

/** `same`: the outcomes of recent calls like this one, oldest first. */
export function findFailureStreak(
  call: CallContext,
  same: readonly RecentCall[],
  hasRetries: boolean,
): Finding | null {
  const latest = same[same.length - 1];
  if (latest === undefined || latest.status !== "failed") return null;
  const streak = streakOf(same, latest);
  const beyond = countBeyond(call, streak, latest, hasRetries);
  if (beyond < 0) return null;
  const dependent = { actionKey: call.actionKey, isRead: call.tool.isRead, resources: null };
  if (anyWriteSince(call.state, dependent, latest.n)) return null;
  const waitMs = latest.atMs + pauseAfter(call.policy.loops, beyond) - call.nowMs;
  if (waitMs <= 0) return warnOfMany(call, streak.length);
  return { ...streakFinding(call, streak.length), retryAfterMs: waitMs, resolution: "retry_after" };
}

/** After its pause the next try runs; of many of them the model is advised. */
function warnOfMany(call: CallContext, failures: number): Finding | null {
  const { anyPace } = call.policy.loops;
  if (anyPace === null || failures < anyPace) return null;
  return { ...streakFinding(call, failures), warnsOnly: true };
}

function streakFinding({ priorCall }: CallContext, failures: number): Finding {
  return finding({
    reason: "failure_streak",
    rule: "loops.failure_streak",
    disposition: "change_approach",
    detail: `It failed ${failures} times in the same way.`,
    previous: priorCall ?? null,
  });
}

/** The failures at the end that have one error. */
function streakOf(same: readonly RecentCall[], latest: RecentCall): readonly RecentCall[] {
  const other = same.findLastIndex(
    ({ status, maskedDigest }) => status !== "failed" || maskedDigest !== latest.maskedDigest,
  );
  return same.slice(other + 1);
}

/**
 * By how many failures the streak is longer than it may be; below 0: it is not. Within the turn the
 * tool's `retries` decide where it has some.
 */
function countBeyond(
  { policy, state, tool }: CallContext,
  streak: readonly RecentCall[],
  latest: RecentCall,
  hasRetries: boolean,
): number {
  const { failureSame, failureTransient, failureTurns } = policy.loops;
  const least = latest.transient ? failureTransient : failureSame;
  const need = Math.max(least, tool.polling?.max_calls ?? 0);
  const inTurn = streak.filter(({ turnIndex }) => turnIndex === state.turn.index).length;
  const overTurns = new Set(streak.map(({ turnIndex }) => turnIndex)).size - failureTurns;
  return hasRetries ? overTurns : Math.max(inTurn - need, overTurns);
}

/** How long the next try waits, ms, after a streak that is longer than allowed by `beyond` failures. */
export function pauseAfter({ failurePauseMs }: LoopThresholds, beyond: number): number {
  return Math.min(failurePauseMs.max, failurePauseMs.min * 2 ** beyond);
}
