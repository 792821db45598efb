/**
 * Finds repetition without anything new, in the recent calls of the conversation. Refused calls are
 * not among those, so the gate's own refusals are neither progress nor failure.
 */

import { trieGet } from "../../collections/trie.ts";
import { mayBeRecent } from "../state/recent-calls.ts";
import type { ConversationState, RecentCall } from "../state/state.ts";
import { hasChanged } from "./changed.ts";
import { type CallContext, defineCheck, type Finding, finding, NOTHING } from "./check.ts";
import { findCycle } from "./cycle.ts";
import { isBatch } from "./duplicate.ts";
import type { ExplainedCall } from "./explain-row.ts";
import { findFailureStreak, showStreakPause } from "./failure-streak.ts";
import { overRate } from "./rate.ts";
import { compileRetries, type Retries } from "./retry.ts";
import { findStalls } from "./stalls.ts";

export const loopsCheck = defineCheck<Retries | null>("loops", {
  find: findLoops,
  compile: compileRetries,
  row: { rule: () => "deduplication.loop_threshold", value: showEqualCalls },
});

function findLoops(call: CallContext, retries: Retries | null): readonly Finding[] {
  const findings: Finding[] = [];
  const frequency = tooFrequent(call);
  if (frequency !== null) findings.push(frequency);
  const { recentCalls, cycle } = call.state;
  if (recentCalls.length === 0) return findings;
  const same = sameIn(call.state, call.actionKey);
  const repeat = loopRepeat(call, same);
  if (repeat !== null) findings.push(repeat);
  const streak = findFailureStreak(call, same, retries !== null);
  if (streak !== null) findings.push(streak);
  const round = findCycle(call, cycle);
  if (round !== null) findings.push(round);
  findStalls(call, findings);
  return findings.length === 0 ? NOTHING : findings;
}

const NONE: readonly RecentCall[] = [];

/** Outcomes of the recent calls with this action key that ran, oldest first. */
function sameIn(state: ConversationState, actionKey: string): readonly RecentCall[] {
  if (!mayBeRecent(state, actionKey)) return NONE;
  let same: RecentCall[] | undefined;
  for (const entry of state.recentCalls) {
    if (entry.actionKey !== actionKey || entry.status === "not_executed") continue;
    same ??= [];
    same.push(entry);
  }
  return same ?? NONE;
}

function tooFrequent(call: CallContext): Finding | null {
  const { tool, state, priorCall, nowMs } = call;
  const interval = tool.polling?.min_interval_ms ?? 0;
  const sincePriorCall = priorCall === undefined ? Infinity : nowMs - priorCall.atMs;
  if (interval > 0 && sincePriorCall < interval) {
    return frequencyFinding(`${tool.rule}.polling.min_interval_ms`, interval - sincePriorCall);
  }
  if (tool.frequency === null) return null;
  const waitMs = overRate(trieGet(state.rates, `tool:${tool.name}`), tool.frequency, nowMs);
  return waitMs === null ? null : frequencyFinding(`${tool.rule}.frequency`, waitMs);
}

function frequencyFinding(rule: string, retryAfterMs: number): Finding {
  return finding({
    reason: "tool_frequency",
    rule,
    disposition: "wait",
    retryAfterMs,
    resolution: "retry_after",
  });
}

function loopRepeat(call: CallContext, same: readonly RecentCall[]): Finding | null {
  const { tool, policy, priorCall } = call;
  if (tool.polling !== null) {
    const most = tool.polling.max_calls ?? Infinity;
    if (priorCall === undefined || priorCall.turnIndex !== call.state.turn.index) return null;
    if (priorCall.sameOutputs < most || mayDiffer(call, priorCall.n)) return null;
    return repeatFinding(call, `${tool.rule}.polling.max_calls`, priorCall.sameOutputs);
  }
  // The calls of a step are one batch, however many they are and even if the first have returned.
  if (tool.batchable && priorCall !== undefined && isBatch(call, priorCall)) return null;
  const { sameOutput, anyOutput } = policy.loops;
  const rule = "deduplication.loop_threshold";
  if (sameOutput !== null && !tool.emptyOutput && sameOutputs(call, same, sameOutput - 1)) {
    return repeatFinding(call, rule, sameOutput - 1);
  }
  if (anyOutput !== null && unchanged(call, same, anyOutput - 1)) {
    return repeatFinding(call, rule, anyOutput - 1);
  }
  return null;
}

/**
 * Whether the latest `count` calls like this one succeeded with one output, and nothing changed
 * since.
 */
function sameOutputs(call: CallContext, same: readonly RecentCall[], count: number): boolean {
  if (!unchanged(call, same, count)) return false;
  const latest = same.slice(-count);
  const digest = latest[0]?.digest ?? null;
  return (
    digest !== null &&
    latest.every((entry) => entry.status === "succeeded" && entry.digest === digest)
  );
}

/** Whether there are `count` calls like this one and nothing changed since the first of them. */
function unchanged(call: CallContext, same: readonly RecentCall[], count: number): boolean {
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

function showEqualCalls({ state, unenforced, policy, tool }: ExplainedCall): string {
  const same = (state?.recentCalls ?? []).filter(
    ({ actionKey }) => actionKey === unenforced.arguments.actionKey,
  );
  if (tool.polling !== null) return `polling, ${same.length} calls so far`;
  const { sameOutput } = policy.loops;
  const most = sameOutput === null ? "no limit" : `refused at ${sameOutput} with one output`;
  const failed = same.at(-1)?.status === "failed";
  const pause = failed ? `; ${showStreakPause(policy.loops)}` : "";
  return `${same.length} equal calls among the latest; ${most}${pause}`;
}
