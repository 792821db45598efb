/**
 * The part of the check `loops` for one call that is made again and again and gives one output. A repeat
 * after a pause in which the outcome could have changed is none: the model is only advised of many.
 */
import type { CompiledTool } from "../policy/compiled.ts";
import type { PollingLimits } from "../policy/document.ts";
import type { RecentCall } from "../state/state.ts";
import { hasChanged } from "./changed.ts";
import { type CallContext, type Finding, finding } from "./check.ts";
import { isNewOutput } from "./cycle.ts";
import { isBatch, isRepeatMeant } from "./duplicate.ts";
import { pauseAfter } from "./failure-streak.ts";

/** What a volatile tool shows may be something else after this pause, ms; any read may be. */
const READ_PACE_MS = 10_000;

/** A write that is made again after this pause, ms, is a job of its own. */
const WRITE_PACE_MS = 3_600_000;

/** Reads of several turns are repeats of one another where pauses are shorter than this, ms. */
const TURNS_PACE_MS = 600_000;

const RULE = "deduplication.loop_threshold";

/** `same`: the outcomes of recent calls like this one, oldest first. */
export function findRepeat(call: CallContext, same: readonly RecentCall[]): Finding | null {
  const { tool, policy, priorCall } = call;
  if (tool.polling !== null) return findPollInVain(call, tool.polling);
  // The calls of a step are one batch, however many they are and even if the first have returned.
  if (tool.batchable && priorCall !== undefined && isBatch(call, priorCall)) return null;
  if (isSeenToMove(call, same)) return null;
  const { sameOutput, anyOutput } = policy.loops;
  const near = withoutPauses(call, same);
  if (sameOutput !== null && !tool.emptyOutput && haveOneOutput(call, near, sameOutput - 1)) {
    return repeatFinding(call, RULE, sameOutput - 1);
  }
  if (anyOutput !== null && areUnchanged(call, near, anyOutput - 1)) {
    return repeatFinding(call, RULE, anyOutput - 1);
  }
  const often = findRepeatAtAnyPace(call, same);
  const waitMs = often === null || !tool.isRead ? 0 : waitAfterEqual(call);
  if (often !== null && waitMs > 0) return waiting(often, waitMs);
  const slow = often ?? findReadOverTurns(call, same) ?? findReturn(call, near);
  return slow === null ? null : { ...slow, warnsOnly: true };
}

/**
 * How long the next look waits, ms, after many that showed one output: as a try after a streak of failures, from
 * the latest one on.
 */
export function waitAfterEqual({ policy, priorCall, nowMs }: Waiting): number {
  const { anyPace, sameOutput } = policy.loops;
  if (priorCall === undefined || anyPace === null) return 0;
  const beyond = priorCall.sameOutputs + 1 - Math.max(anyPace, sameOutput ?? 0);
  return beyond < 0 ? 0 : priorCall.atMs + pauseAfter(policy.loops, beyond) - nowMs;
}

type Waiting = Pick<CallContext, "policy" | "priorCall" | "nowMs">;

function waiting(finding: Finding, retryAfterMs: number): Finding {
  return { ...finding, retryAfterMs, resolution: "retry_after" };
}

/**
 * Whether a read after the latest of these writes shows something else than it did before: each write that is
 * meant had its effect then, whatever it answered.
 */
export function isSeenToMove(
  { tool, state }: Pick<CallContext, "tool" | "state">,
  same: readonly RecentCall[],
): boolean {
  const latest = same[same.length - 1];
  if (latest === undefined || tool.isRead || !isRepeatMeant(tool)) return false;
  const { recentCalls } = state;
  for (let at = recentCalls.length - 1; at >= 0; at--) {
    const { n, isRead, status } = recentCalls[at] as RecentCall;
    if (n <= latest.n) return false;
    if (isRead && status === "succeeded" && isNewOutput(recentCalls, at)) return true;
  }
  return false;
}

/** As many reads with one output, whatever turns they were made in, shortly after one another. */
function findReadOverTurns(call: CallContext, same: readonly RecentCall[]): Finding | null {
  const { sameOutput, anyPace } = call.policy.loops;
  const { tool, nowMs } = call;
  if (!tool.isRead || anyPace === null || sameOutput === null || tool.emptyOutput) return null;
  const need = Math.max(anyPace, sameOutput) - 1;
  const near = upToPause(same, nowMs, TURNS_PACE_MS).slice(-need);
  const first = near[0];
  if (near.length < need || first === undefined || mayDiffer(call, first.n)) return null;
  return gaveOneOutput(near) ? repeatFinding(call, `${RULE}.any_pace`, need) : null;
}

/**
 * A write that was made shortly before, and since then only others by the same tool: pay ann, pay bob, pay
 * ann. The other write lets it run, and the model should know.
 */
function findReturn(call: CallContext, near: readonly RecentCall[]): Finding | null {
  const { tool, state, isConfirmed } = call;
  const prior = near[near.length - 1];
  if (tool.isRead || !tool.changesMatter || isConfirmed || prior?.status !== "succeeded")
    return null;
  if (tool.repeatable || tool.namesNoObject || tool.commandsOf !== null) return null;
  const since = state.recentCalls.findLastIndex(({ n }) => n === prior.n);
  if (since < 0) return null;
  const between = state.recentCalls.slice(since + 1);
  const writes = between.filter(({ isRead, status }) => !isRead && status === "succeeded");
  if (writes.length === 0 || writes.some((entry) => entry.tool !== tool.name)) return null;
  return finding({
    reason: "loop_repeat",
    rule: RULE,
    disposition: "change_approach",
    detail: `It succeeded before, and since then only other calls of \`${tool.name}\` did: it will take effect again.`,
    previous: call.priorCall ?? null,
  });
}

/** Many equal calls with one output, however far apart. */
export function findRepeatAtAnyPace(
  call: CallContext,
  same: readonly RecentCall[],
): Finding | null {
  const { sameOutput, anyPace } = call.policy.loops;
  if (anyPace === null || sameOutput === null || call.tool.emptyOutput) return null;
  const need = Math.max(anyPace, sameOutput) - 1;
  if (call.tool.polling !== null || !haveOneOutput(call, same, need)) return null;
  return repeatFinding(call, `${RULE}.any_pace`, need);
}

/**
 * Polls of this turn that gave one output, and nothing changed since the latest. Up to `max_calls` they run, but
 * where the author says no pause, many of them wait for longer and longer.
 */
function findPollInVain(call: CallContext, polling: PollingLimits): Finding | null {
  const { tool, priorCall } = call;
  if (priorCall === undefined || priorCall.turnIndex !== call.state.turn.index) return null;
  const isOver = priorCall.sameOutputs >= (polling.max_calls ?? Infinity);
  const waitMs = isOver || polling.min_interval_ms !== undefined ? 0 : waitAfterEqual(call);
  if ((!isOver && waitMs <= 0) || mayDiffer(call, priorCall.n)) return null;
  if (isOver) return repeatFinding(call, `${tool.rule}.polling.max_calls`, priorCall.sameOutputs);
  const often = repeatFinding(call, `${tool.rule}.polling`, priorCall.sameOutputs);
  return waiting({ ...often, reason: "tool_frequency", disposition: "wait" }, waitMs);
}

/** The pause, ms, after which an equal call is no repetition. */
export function paceOf(tool: CompiledTool): number {
  if (!tool.isRead) {
    return tool.answersAsRead ? tool.windowMs : Math.max(tool.windowMs, WRITE_PACE_MS);
  }
  return tool.volatile ? READ_PACE_MS : Math.max(tool.cacheMs, READ_PACE_MS);
}

/** The latest calls, up to the first pause after which the next one was no repetition. */
function withoutPauses(
  { tool, nowMs, priorCall }: CallContext,
  same: readonly RecentCall[],
): readonly RecentCall[] {
  const paceMs = paceOf(tool);
  // An answer from memory, which is among the recent calls, is as old as the call that ran.
  if (tool.isRead && priorCall !== undefined && nowMs - priorCall.atMs >= paceMs) return [];
  if (tool.volatile && isBackingOff(same, nowMs)) return [];
  return upToPause(same, nowMs, paceMs);
}

/** The latest calls, up to the first such pause. */
function upToPause(
  same: readonly RecentCall[],
  nowMs: number,
  paceMs: number,
): readonly RecentCall[] {
  let next = nowMs;
  let from = same.length;
  while (from > 0) {
    const { atMs } = same[from - 1] as RecentCall;
    if (next - atMs >= paceMs) break;
    next = atMs;
    from -= 1;
  }
  return from === 0 ? same : same.slice(from);
}

/** Whether the pause before this call is at least twice the one before. */
function isBackingOff(same: readonly RecentCall[], nowMs: number): boolean {
  const latest = same[same.length - 1];
  const before = same[same.length - 2];
  if (latest === undefined || before === undefined || latest.atMs <= before.atMs) return false;
  return nowMs - latest.atMs >= 2 * (latest.atMs - before.atMs);
}

/**
 * Whether the latest `count` calls like this one succeeded with one output, and nothing changed
 * since.
 */
function haveOneOutput(call: CallContext, same: readonly RecentCall[], count: number): boolean {
  if (!areUnchanged(call, same, count)) return false;
  return gaveOneOutput(same.slice(-count));
}

function gaveOneOutput(calls: readonly RecentCall[]): boolean {
  const digest = calls[0]?.maskedDigest ?? null;
  return (
    digest !== null &&
    calls.every((entry) => entry.status === "succeeded" && entry.maskedDigest === digest)
  );
}

/** Whether there are `count` calls like this one and nothing changed since the first of them. */
function areUnchanged(call: CallContext, same: readonly RecentCall[], count: number): boolean {
  const { tool, state } = call;
  const first = same[same.length - count];
  if (count < 1 || first === undefined) return false;
  // A new turn is new user input: the user may want a fresh look. A write would repeat its effect.
  const withinTurn = tool.isRead || tool.scope === "turn";
  if (withinTurn && first.turnIndex !== state.turn.index) return false;
  return !mayDiffer(call, first.n);
}

function mayDiffer(call: CallContext, sinceN: number): boolean {
  return call.tool.changesMatter && hasChanged(call, sinceN);
}

function repeatFinding(call: CallContext, rule: string, times: number): Finding {
  return finding({
    reason: "loop_repeat",
    rule,
    disposition: "change_approach",
    detail: `It has been made ${times} times already and nothing has changed since.`,
    previous: call.priorCall ?? null,
  });
}
