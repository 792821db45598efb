// The loop checks of the reference engine, each a question to the list of recent calls.
import type { CompiledPolicy } from "../../../services/core/policy/compiled.ts";
import type { ReasonCode } from "../../../services/core/reasons.ts";
import {
  type Asked,
  byOrder,
  type Call,
  changedSince,
  type History,
  lastProgress,
  ring,
} from "./history.ts";

export interface LoopFinding {
  readonly reason: ReasonCode;
  /** Keys of a cycle that this call completes, or that is refused already. */
  readonly cycle: readonly string[] | null;
}

export function loopFindings(
  history: History,
  asked: Asked,
  policy: CompiledPolicy,
  atMs: number,
): LoopFinding[] {
  const found: LoopFinding[] = [];
  if (repeats(history, asked, policy)) found.push({ reason: "loop_repeat", cycle: null });
  const cycle = cycleOf(history, asked, policy);
  if (cycle !== null) found.push({ reason: "loop_cycle", cycle });
  if (fails(history, asked, policy)) found.push({ reason: "failure_streak", cycle: null });
  if (tooFrequent(history, asked, policy, atMs)) {
    found.push({ reason: "tool_frequency", cycle: null });
  }
  return found;
}

/** Identical recent calls, latest first, that nothing has changed since. */
function identical(history: History, asked: Asked, policy: CompiledPolicy): Call[] {
  return ring(history, policy.ringSize)
    .filter((call) => call.actionKey === asked.actionKey && call.status !== "not_executed")
    .filter((call) => !changedSince(history, asked, call.order))
    .reverse();
}

function repeats(history: History, asked: Asked, policy: CompiledPolicy): boolean {
  const { sameOutput, anyOutput } = policy.loops;
  const all = identical(history, asked, policy);
  const earlier = asked.tool.isRead ? all.filter((call) => call.turn === history.turns) : all;
  if (asked.tool.polling !== null) {
    const max = asked.tool.polling.max_calls;
    return max !== undefined && haveOneOutput(earlier, max);
  }
  if (anyOutput !== null && earlier.length >= anyOutput - 1) return true;
  return sameOutput !== null && haveOneOutput(earlier, sameOutput - 1);
}

function haveOneOutput(latestFirst: readonly Call[], count: number): boolean {
  const last = latestFirst.slice(0, count);
  return (
    last.length === count &&
    last.every((call) => call.status === "succeeded" && call.outputDigest === last[0]?.outputDigest)
  );
}

function cycleOf(history: History, asked: Asked, policy: CompiledPolicy): readonly string[] | null {
  const progress = lastProgress(history);
  const refused = history.refusals.findLast(
    (refusal) => refusal.cycle !== null && refusal.order > progress,
  );
  if (refused?.cycle?.includes(asked.actionKey) === true) return refused.cycle;
  const recent = ring(history, policy.ringSize).filter((call) => call.turn === history.turns);
  for (let period = 2; period <= 5; period += 1) {
    const keys = completedPeriod(recent, asked, period, policy.loops.cycleRounds);
    if (keys !== null && !(asked.tool.volatile && lastRoundIsNew(recent, period))) return keys;
  }
  return null;
}

function completedPeriod(
  recent: readonly Call[],
  asked: Asked,
  period: number,
  rounds: number,
): readonly string[] | null {
  const keys = [...recent.map((call) => call.actionKey), asked.actionKey].slice(-period * rounds);
  if (keys.length < period * rounds) return null;
  const round = keys.slice(0, period);
  if (new Set(round).size < period) return null;
  return keys.every((key, at) => key === round[at % period]) ? round : null;
}

/** The outputs of the last round, of which this call is the last, were not seen before it. */
function lastRoundIsNew(recent: readonly Call[], period: number): boolean {
  const last = recent.slice(-period);
  const before = recent.slice(0, -period).map((call) => call.outputDigest);
  return last.every((call) => call.outputDigest !== null && !before.includes(call.outputDigest));
}

function fails(history: History, asked: Asked, policy: CompiledPolicy): boolean {
  const latestFirst = identical(history, asked, policy).filter(
    (call) => call.turn === history.turns,
  );
  const last = latestFirst[0];
  if (last?.status !== "failed") return false;
  let streak = 0;
  for (const call of latestFirst) {
    if (call.status !== "failed" || call.error !== last.error) break;
    streak += 1;
  }
  const { failureSame, failureTransient } = policy.loops;
  return streak >= (last.transient ? failureTransient : failureSame);
}

function tooFrequent(
  history: History,
  asked: Asked,
  policy: CompiledPolicy,
  atMs: number,
): boolean {
  const { frequency, polling, name } = asked.tool;
  const mine = history.calls.filter((call) => call.kind === "allowed" && call.tool.name === name);
  if (frequency !== null) {
    const within = mine.filter((call) => call.atMs > atMs - frequency.windowMs);
    if (within.length >= frequency.count) return true;
  }
  if (polling?.min_interval_ms === undefined) return false;
  const last = ring(history, policy.ringSize)
    .filter((call) => call.actionKey === asked.actionKey)
    .sort(byOrder)
    .at(-1);
  return last !== undefined && atMs - last.atMs < polling.min_interval_ms;
}
