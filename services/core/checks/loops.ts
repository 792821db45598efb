/**
 * Finds repetition without anything new, in the recent calls of the conversation. Refused calls are
 * not among those, so the gate's own refusals are neither progress nor failure.
 */

import { trieGet } from "../../collections/trie.ts";
import { callsOfAction, mayBeRecent } from "../state/recent-calls.ts";
import type { RecentCall } from "../state/state.ts";
import { type CallContext, defineCheck, type Finding, finding, NOTHING } from "./check.ts";
import { findCycle } from "./cycle.ts";
import { explainLoops } from "./explain-loops.ts";
import { findFailureStreak } from "./failure-streak.ts";
import { overRate } from "./rate.ts";
import { findRepeat, findRepeatAtAnyPace } from "./repeat.ts";
import { compileRetries, type Retries } from "./retry.ts";
import { findStalls } from "./stalls.ts";

export const loopsCheck = defineCheck<Retries | null>("loops", {
  find: findLoops,
  compile: compileRetries,
  row: { rule: () => "deduplication.loop_threshold", value: explainLoops },
});

function findLoops(call: CallContext, retries: Retries | null): readonly Finding[] {
  const findings: Finding[] = [];
  const frequency = tooFrequent(call);
  if (frequency !== null) findings.push(frequency);
  const { recentCalls, cycle } = call.state;
  if (recentCalls.length === 0) return findings;
  const same = sameIn(call);
  const repeat = findRepeat(call, same);
  if (repeat !== null) findings.push(repeat);
  const streak = findFailureStreak(call, same, retries !== null);
  if (streak !== null) findings.push(streak);
  const round = findCycle(call, cycle);
  if (round !== null) findings.push(round);
  findStalls(call, findings);
  return findings.length === 0 ? NOTHING : findings;
}

/**
 * Loops that count where memory answers the call: nothing runs, so rates do not, and a repeat does only
 * at the threshold for any pace.
 */
export function findLoopsOfAnswer(call: CallContext): readonly Finding[] {
  const findings: Finding[] = [];
  const repeat = findRepeatAtAnyPace(call, sameIn(call));
  if (repeat !== null) findings.push(repeat);
  const round = findCycle(call, call.state.cycle);
  if (round !== null) findings.push(round);
  findStalls(call, findings);
  return findings.map((loop) => ({ ...loop, isServed: true, warnsOnly: false }));
}

const NONE: readonly RecentCall[] = [];

/**
 * Outcomes of the agent's recent calls like this one that ran, oldest first. A read, or a call that failed,
 * before a person answered in this turn is none of them.
 */
function sameIn({ state, loopKey }: CallContext): readonly RecentCall[] {
  if (!mayBeRecent(state, loopKey)) return NONE;
  let same: RecentCall[] | undefined;
  for (const entry of callsOfAction(state, loopKey)) {
    if (entry.status === "not_executed") continue;
    if (entry.n < state.turn.answeredN && (entry.isRead || entry.status === "failed")) continue;
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
