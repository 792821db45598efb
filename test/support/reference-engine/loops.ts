// The loop checks of the reference engine, each a scan of the recent calls.
import type { CompiledPolicy } from "../../../services/core/policy/compiled.ts";
import type { ReasonCode } from "../../../services/core/reasons/reasons.ts";
import { formOf } from "../../../services/core/state/sweep.ts";
import {
  type Asked,
  allowedPriorCalls,
  type Call,
  changedSince,
  type History,
  isSinceInput,
  lastProgress,
  listRecentCalls,
  parallel,
  writtenSince,
} from "./history.ts";

export interface LoopFinding {
  readonly reason: ReasonCode;
  /** Keys of a cycle that this call completes, or that is refused already. */
  readonly cycle: readonly string[] | null;
  /** Whether it only warns. */
  readonly warns?: boolean;
}

/** Loops of a read that memory would answer. */
export function loopsOfAnswer(
  history: History,
  asked: Asked,
  policy: CompiledPolicy,
  atMs: number,
): LoopFinding[] {
  const findings: LoopFinding[] = [];
  if (repeatsAtAnyPace(history, asked, policy))
    findings.push({ reason: "loop_repeat", cycle: null });
  const cycle = cycleOf(history, asked, policy, atMs);
  if (cycle !== null) findings.push({ reason: "loop_cycle", cycle });
  const others = stalls(history, asked, policy);
  const drift = driftOf(history, asked, policy, atMs);
  return [...findings, ...withDrift(others, drift, false)];
}

export function loopFindings(
  history: History,
  asked: Asked,
  policy: CompiledPolicy,
  atMs: number,
  meant: boolean,
): LoopFinding[] {
  const findings: LoopFinding[] = [];
  if (tooFrequent(history, asked, atMs) || pollsTooOften(history, asked, policy, atMs)) {
    findings.push({ reason: "tool_frequency", cycle: null });
  }
  const repeat = repeats(history, asked, policy, atMs, meant);
  if (repeat !== null) {
    findings.push({ reason: "loop_repeat", cycle: null, warns: repeat.warns });
  }
  const failures = fails(history, asked, policy, atMs);
  if (failures !== null) {
    findings.push({ reason: "failure_streak", cycle: null, warns: failures.warns });
  }
  const cycle = cycleOf(history, asked, policy, atMs);
  if (cycle !== null) findings.push({ reason: "loop_cycle", cycle });
  const drift = driftOf(history, asked, policy, atMs);
  return [...findings, ...withDrift(stalls(history, asked, policy), drift, true)];
}

/** Identical recent calls, latest first, without those that were not executed. */
function identical(history: History, asked: Asked, policy: CompiledPolicy): Call[] {
  return callsOfAction(history, asked, policy)
    .filter((call) => call.status !== "not_executed")
    .filter((call) => !isSettledByPerson(history, call))
    .reverse();
}

/** The latest calls of the action, oldest first. */
function callsOfAction(history: History, asked: Asked, policy: CompiledPolicy): Call[] {
  return listRecentCalls(history, Infinity)
    .filter((call) => call.actionKey === asked.actionKey)
    .slice(-policy.recentCallsMax);
}

/** A read, or a call that failed, before a person answered in this turn. */
function isSettledByPerson(history: History, call: Call): boolean {
  const before = call.order < history.answeredAt;
  return before && (call.tool.isRead || call.status === "failed");
}

/** `warns`: many equal calls that are far apart. */
function repeats(
  history: History,
  asked: Asked,
  policy: CompiledPolicy,
  atMs: number,
  meant: boolean,
): { readonly warns: boolean } | null {
  const { sameOutput, anyOutput } = policy.loops;
  if (asked.tool.polling !== null) return pollsInVain(history, asked) ? { warns: false } : null;
  const priorCall = allowedPriorCalls(history, asked).at(-1);
  if (priorCall !== undefined && parallel(asked, priorCall)) return null;
  if (isSeenToMove(history, asked, policy)) return null;
  const earlier = unchanged(history, asked, policy);
  const all = identical(history, asked, policy);
  const near = earlier.slice(0, shortPauses(all, asked, atMs, priorCall));
  if (anyOutput !== null && near.length >= anyOutput - 1) return { warns: false };
  if (sameOutput !== null && haveOneOutput(near, sameOutput - 1)) return { warns: false };
  const slow = repeatsSlowly(history, asked, policy, atMs);
  if (slow !== null) return slow;
  const latest = all.slice(0, shortPauses(all, asked, atMs, priorCall))[0];
  return !meant && returns(history, asked, policy, latest) ? { warns: true } : null;
}

/** Many equal calls, however far apart; of reads the next one waits. */
function repeatsSlowly(
  history: History,
  asked: Asked,
  policy: CompiledPolicy,
  atMs: number,
): { readonly warns: boolean } | null {
  const isOften = repeatsAtAnyPace(history, asked, policy);
  if (isOften && asked.tool.isRead && waits(history, asked, policy, atMs)) return { warns: false };
  return isOften || readsOverTurns(history, asked, policy, atMs) ? { warns: true } : null;
}

/** A write of which every call is meant, after which a read shows something that it did not show before. */
function isSeenToMove(history: History, asked: Asked, policy: CompiledPolicy): boolean {
  const { isRead, repeatable, namesNoObject } = asked.tool;
  const latest = identical(history, asked, policy)[0];
  if (isRead || !(repeatable || namesNoObject) || latest === undefined) return false;
  const recent = listRecentCalls(history, policy.recentCallsMax);
  return recent.some((call, at) => {
    if (call.order <= latest.order || !call.tool.isRead || call.status !== "succeeded")
      return false;
    const earlier = recent.slice(0, at).filter((other) => loopKeyOf(other) === loopKeyOf(call));
    const digest = call.maskedDigest;
    const isSeen = earlier.some((other) => other.maskedDigest === digest);
    return digest !== null && earlier.length > 0 && !isSeen;
  });
}

/** As many reads with one output in any turns, no pause of ten minutes between them. */
function readsOverTurns(
  history: History,
  asked: Asked,
  policy: CompiledPolicy,
  atMs: number,
): boolean {
  const { sameOutput, anyPace } = policy.loops;
  if (!asked.tool.isRead || sameOutput === null || anyPace === null) return false;
  const need = Math.max(sameOutput, anyPace) - 1;
  const latestFirst = identical(history, asked, policy).slice(0, need);
  const isQuick = latestFirst.every(
    (call, at) => (latestFirst[at - 1]?.atMs ?? atMs) - call.atMs < 600_000,
  );
  const first = latestFirst.at(-1);
  const isSame = first !== undefined && !changedSince(history, asked, first.order);
  return isQuick && isSame && haveOneOutput(latestFirst, need);
}

/** A write after other writes of its tool alone. */
function returns(
  history: History,
  { tool }: Asked,
  policy: CompiledPolicy,
  latest: Call | undefined,
): boolean {
  if (tool.isRead || !tool.changesMatter || latest?.status !== "succeeded") return false;
  if (tool.repeatable || tool.namesNoObject) return false;
  const recent = listRecentCalls(history, policy.recentCallsMax);
  if (!recent.includes(latest)) return false;
  const writes = recent.filter(
    (call) => call.order > latest.order && !call.tool.isRead && call.status === "succeeded",
  );
  return writes.length > 0 && writes.every((call) => call.tool.name === tool.name);
}

/** Identical calls since which nothing has changed, latest first. */
function unchanged(history: History, asked: Asked, policy: CompiledPolicy): Call[] {
  const all = identical(history, asked, policy).filter(
    (call) => !changedSince(history, asked, call.order),
  );
  const withinTurn = asked.tool.isRead || asked.tool.scope === "turn";
  return withinTurn ? all.filter((call) => call.turn === history.turns) : all;
}

function repeatsAtAnyPace(history: History, asked: Asked, policy: CompiledPolicy): boolean {
  const { sameOutput, anyPace } = policy.loops;
  if (sameOutput === null || anyPace === null) return false;
  return haveOneOutput(unchanged(history, asked, policy), Math.max(sameOutput, anyPace) - 1);
}

/** How many of the latest calls have only short pauses behind them, up to this call. */
function shortPauses(
  latestFirst: readonly Call[],
  { tool }: Asked,
  atMs: number,
  priorCall: Call | undefined,
): number {
  const times = [atMs, ...latestFirst.map((call) => call.atMs)];
  const pauses = times.slice(1).map((time, at) => (times[at] as number) - time);
  const [own = 0, before = 0] = pauses;
  if (tool.volatile && before > 0 && own >= 2 * before) return 0;
  const forReads = tool.volatile ? 10_000 : Math.max(10_000, tool.cacheMs);
  const forWrites = tool.answersAsRead ? tool.windowMs : Math.max(3_600_000, tool.windowMs);
  if (tool.isRead && priorCall !== undefined && atMs - priorCall.atMs >= forReads) return 0;
  const long = pauses.findIndex((pause) => pause >= (tool.isRead ? forReads : forWrites));
  return long < 0 ? pauses.length : long;
}

/**
 * Whether the last polls of this turn gave one output, and nothing has changed since the latest.
 */
function pollsInVain(history: History, asked: Asked): boolean {
  const max = asked.tool.polling?.max_calls;
  const polls = allowedPriorCalls(history, asked);
  const latest = polls.at(-1);
  if (max === undefined || latest === undefined || latest.turn !== history.turns) return false;
  // A result after the next poll has begun does not count.
  const inTime = polls.filter(
    (poll, at) => poll.settled !== null && poll.settled < (polls[at + 1]?.order ?? Infinity),
  );
  const counted = inTime.filter(
    (poll) => poll.turn === history.turns && poll.status !== "not_executed",
  );
  return equalAtEnd(counted) >= max && !changedSince(history, asked, latest.order);
}

/** Whether the pause after many calls of the turn with one output is not over. */
function waits(history: History, asked: Asked, policy: CompiledPolicy, atMs: number): boolean {
  const { anyPace, sameOutput } = policy.loops;
  const all = allowedPriorCalls(history, asked);
  const latest = all.at(-1);
  if (latest === undefined || anyPace === null) return false;
  const inTime = all.filter(
    (call, at) => call.settled !== null && call.settled < (all[at + 1]?.order ?? Infinity),
  );
  const ofTurn = inTime.filter(
    (call) => call.turn === latest.turn && call.status !== "not_executed",
  );
  const beyond = equalAtEnd(ofTurn) + 1 - Math.max(anyPace, sameOutput ?? 0);
  return beyond >= 0 && atMs < latest.atMs + pauseMs(policy, beyond);
}

/** The number of latest calls that succeeded with one output. */
function equalAtEnd(calls: readonly Call[]): number {
  const latestFirst = [...calls].reverse();
  const last = latestFirst[0];
  if (last?.status !== "succeeded") return 0;
  const other = latestFirst.findIndex(
    (call) =>
      call.status !== "succeeded" ||
      call.maskedDigest === null ||
      call.maskedDigest !== last.maskedDigest,
  );
  return other < 0 ? latestFirst.length : Math.max(1, other);
}

function haveOneOutput(latestFirst: readonly Call[], count: number): boolean {
  const last = latestFirst.slice(0, count);
  return (
    last.length === count &&
    last.every(
      (call) =>
        call.status === "succeeded" &&
        call.maskedDigest !== null &&
        call.maskedDigest === last[0]?.maskedDigest,
    )
  );
}

function cycleOf(
  history: History,
  asked: Asked,
  policy: CompiledPolicy,
  atMs: number,
): readonly string[] | null {
  const refused = refusedCycle(history);
  if (refused?.includes(loopKeyOf(asked)) === true) return refused;
  const all = listRecentCalls(history, policy.recentCallsMax);
  const recent = all.filter(
    (call) => isSinceInput(history, call) && call.input.agentId === asked.input.agentId,
  );
  for (let period = 2; period <= 5; period += 1) {
    const keys = completedPeriod(recent, asked, period, policy.loops.cycleRounds);
    if (keys !== null && !isMoving(all, period)) return keys;
  }
  return asked.tool.isRead ? null : cycleBetween(history, asked, policy, atMs);
}

/** Rounds of several agents, whose calls answer one another within an hour. */
function cycleBetween(
  history: History,
  asked: Asked,
  policy: CompiledPolicy,
  nowMs: number,
): readonly string[] | null {
  const all = listRecentCalls(history, policy.recentCallsMax);
  const inTurn = all.filter((call) => isSinceInput(history, call));
  for (let period = 2; period <= 5; period += 1) {
    const keys = completedPeriod(inTurn, asked, period, policy.loops.cycleRounds);
    const rounds = all.slice(1 - period * policy.loops.cycleRounds);
    const others = rounds.filter(({ input }) => input.agentId !== asked.input.agentId);
    const isAnswered = others.some(({ tool }) => !tool.isRead);
    if (keys !== null && isAnswered && isQuick(rounds, nowMs) && !isMoving(all, period))
      return keys;
  }
  return null;
}

function isQuick(rounds: readonly Call[], nowMs: number): boolean {
  return rounds.every(({ atMs }, at) => (rounds[at + 1]?.atMs ?? nowMs) - atMs < 3_600_000);
}

export function loopKeyOf({ actionKey, input }: Asked): string {
  return input.agentId === null ? actionKey : `${actionKey}#${input.agentId}`;
}

/** The cycle that is refused until there is progress. */
export function refusedCycle(history: History): readonly string[] | null {
  const progress = lastProgress(history);
  const latest = history.refusals.findLast(
    (refusal) => refusal.cycle !== null && refusal.order > progress,
  );
  return latest?.cycle ?? null;
}

function completedPeriod(
  recent: readonly Call[],
  asked: Asked,
  period: number,
  rounds: number,
): readonly string[] | null {
  const keys = [...recent, asked].map(loopKeyOf).slice(-period * rounds);
  if (keys.length < period * rounds) return null;
  const round = keys.slice(0, period);
  if (new Set(round).size < 2) return null;
  return keys.every((key, at) => key === round[at % period]) ? [...new Set(round)] : null;
}

/**
 * Whether a call of the last round gave an output that none of its action gave before: a read, or a write
 * of a tool whose calls are all meant.
 */
function isMoving(recent: readonly Call[], period: number): boolean {
  return recent.slice(-period).some((call, at) => {
    const { isRead, repeatable, namesNoObject, changesMatter } = call.tool;
    if (!(isRead || repeatable || namesNoObject) && changesMatter) return false;
    const digest = call.maskedDigest;
    const before = recent.slice(0, recent.length - period + at);
    const earlier = before.filter((other) => other.actionKey === call.actionKey);
    const isSeen = earlier.some((other) => other.maskedDigest === digest);
    return digest !== null && earlier.length > 0 && !isSeen;
  });
}

/** Equal failures in a row, with nothing written since, until the pause of the streak is over. */
function fails(
  history: History,
  asked: Asked,
  policy: CompiledPolicy,
  atMs: number,
): { readonly warns: boolean } | null {
  const latestFirst = identical(history, asked, policy);
  const last = latestFirst[0];
  if (last?.status !== "failed") return null;
  if (writtenSince(history, { ...asked, resources: null }, last.order)) return null;
  const end = latestFirst.findIndex(
    (call) => call.status !== "failed" || call.error !== last.error,
  );
  const streak = end < 0 ? latestFirst : latestFirst.slice(0, end);
  const ofTurn = streak.filter((call) => call.turn === history.turns);
  const { failureSame, failureTransient, failureTurns } = policy.loops;
  const written = last.transient ? failureTransient : failureSame;
  const need = Math.max(written, asked.tool.polling?.max_calls ?? 0);
  const beyond = [new Set(streak.map((call) => call.turn)).size - failureTurns];
  if (asked.tool.settings["loops"] === null) beyond.push(ofTurn.length - need);
  if (beyond.some((count) => count >= 0 && atMs < last.atMs + pauseMs(policy, count))) {
    return { warns: false };
  }
  const isLong = streak.length >= (policy.loops.anyPace ?? Infinity);
  return isLong && Math.max(...beyond) >= 0 ? { warns: true } : null;
}

/** How long a try waits after a streak that is longer than allowed. */
export function pauseMs({ loops }: CompiledPolicy, beyond: number): number {
  let pause = loops.failurePauseMs.min;
  for (let n = 0; n < beyond && pause < loops.failurePauseMs.max; n += 1) pause *= 2;
  return Math.min(pause, loops.failurePauseMs.max);
}

/** Polls without a written pause wait after many equal outputs, unless they are refused for good. */
function pollsTooOften(
  history: History,
  asked: Asked,
  policy: CompiledPolicy,
  atMs: number,
): boolean {
  const { polling } = asked.tool;
  if (polling === null || polling.min_interval_ms !== undefined) return false;
  const latest = allowedPriorCalls(history, asked).at(-1);
  if (latest?.turn !== history.turns || pollsInVain(history, asked)) return false;
  if (changedSince(history, asked, latest.order)) return false;
  return waits(history, asked, policy, atMs);
}

function tooFrequent(history: History, asked: Asked, atMs: number): boolean {
  const { frequency, polling, name } = asked.tool;
  const mine = history.calls.filter((call) => call.kind === "allowed" && call.tool.name === name);
  if (frequency !== null) {
    const within = mine.filter(
      (call) => call.status !== "not_executed" && call.atMs > atMs - frequency.windowMs,
    );
    if (within.length >= frequency.count) return true;
  }
  if (polling?.min_interval_ms === undefined) return false;
  const last = allowedPriorCalls(history, asked).at(-1);
  return last !== undefined && atMs - last.atMs < polling.min_interval_ms;
}

/** Calls of the turn that bring nothing new; a call without an outcome does not count. */
function stalls(history: History, asked: Asked, policy: CompiledPolicy): ReasonCode[] {
  const recent = listRecentCalls(history, policy.recentCallsMax);
  const reported = recent.filter(
    (call) =>
      isSinceInput(history, call) && (call.status === "succeeded" || call.status === "failed"),
  );
  const reasons: ReasonCode[] = [];
  if (bringsNothing(history, asked, policy, reported)) reasons.push("loop_no_progress");
  if (rotates(history, asked, policy, recent)) reasons.push("loop_rotation");
  if (failsOnAndOn(asked, policy, reported)) reasons.push("failure_run");
  return reasons;
}

/** Drift comes after no progress, and only refuses where that is seen already, by any mode but off. */
function withDrift(
  stalls: readonly ReasonCode[],
  drift: { readonly warns: boolean } | null,
  canWarn: boolean,
): LoopFinding[] {
  const findings: LoopFinding[] = stalls.map((reason) => ({ reason, cycle: null }));
  const isSeen = stalls.includes("loop_no_progress");
  if (drift === null || (drift.warns && isSeen)) return findings;
  const own = { reason: "loop_drift", cycle: null, warns: canWarn && drift.warns } as const;
  findings.splice(isSeen ? 1 : 0, 0, own);
  return findings;
}

/** Different calls of at most three tools that gave nothing new. */
function driftOf(
  history: History,
  asked: Asked,
  policy: CompiledPolicy,
  atMs: number,
): { readonly warns: boolean } | null {
  const { warn, refuse } = policy.loops.drift;
  const { tool } = asked;
  if (tool.polling !== null || tool.emptyOutput || tool.asksUser) return null;
  if (tool.modes.loop_drift === "off") return null;
  const run = driftRun(history, asked, policy, atMs, true);
  const recent = listRecentCalls(history, policy.recentCallsMax);
  const ofTurn = run.calls.filter(
    (call) => call.turn === history.turns && !isOfSweep(call, recent),
  );
  const isOfRun = run.tools.has(tool.name);
  if (isOfRun && refuse !== null && isDriftLong(ofTurn, tool.isRead, warn, refuse)) {
    return { warns: false };
  }
  if (isOfRun && run.calls.length >= warn) return { warns: true };
  if (refuse === null || tool.isRead) return null;
  const wide = driftRun(history, asked, policy, atMs, false);
  const isHandedOn = wide.tools.size > 1 && wide.tools.has(tool.name);
  return isHandedOn && wide.calls.length >= refuse ? { warns: true } : null;
}

/** Whether the tool's call before it differs from this read in dates and ids alone. */
function isOfSweep(call: Call, recent: readonly Call[]): boolean {
  const before = recent
    .slice(0, recent.indexOf(call))
    .findLast(
      ({ tool, input }) => tool.name === call.tool.name && input.agentId === call.input.agentId,
    );
  const [own, other] = [call, before].map((one) => formOf(String(one?.input.arguments ?? "")));
  const isRead = call.tool.isRead && before?.tool.isRead === true && call.status === "succeeded";
  return isRead && (own ?? 0) > 0 && own === other && before?.actionKey !== call.actionKey;
}

/** Calls of the turn, the latest first; those that failed for good are refused sooner. */
function isDriftLong(
  ofTurn: readonly Call[],
  isRead: boolean,
  warn: number,
  refuse: number,
): boolean {
  const other = ofTurn.findIndex(({ status, transient }) => status !== "failed" || transient);
  const failures = other < 0 ? ofTurn.length : other;
  return (isRead && ofTurn.length >= refuse) || failures >= Math.min(warn, refuse);
}

function driftRun(
  history: History,
  asked: Asked,
  policy: CompiledPolicy,
  atMs: number,
  endsAtWrite: boolean,
): { readonly calls: readonly Call[]; readonly tools: ReadonlySet<string> } {
  const reported = listRecentCalls(history, policy.recentCallsMax)
    .filter(({ status }) => status === "succeeded" || status === "failed")
    .filter(({ maskedDigest }) => maskedDigest !== null)
    .reverse();
  const isFirst = (call: Call): boolean => callsOfAction(history, call, policy)[0] === call;
  const end = reported.findIndex((call, at) => {
    const pause = (reported[at - 1]?.atMs ?? atMs) - call.atMs;
    const isNewWrite = !call.tool.isRead && call.status === "succeeded" && isFirst(call);
    const isHeard = call.order < history.answeredAt;
    return call.isNew || isHeard || pause >= 3_600_000 || (endsAtWrite && isNewWrite);
  });
  const first = (end < 0 ? reported : reported.slice(0, end)).filter(isFirst);
  const names = [...new Set(first.map((call) => call.tool.name))].slice(0, 3);
  const other = first.findIndex((call) => !names.includes(call.tool.name));
  const ofTools = other < 0 ? first : first.slice(0, other);
  const calls = ofTools.filter(
    ({ input: { step } }, at) => step === null || step !== (ofTools[at - 1] ?? asked).input.step,
  );
  return { calls, tools: new Set(ofTools.map((call) => call.tool.name)) };
}

function ofTool(calls: readonly Call[], asked: Asked): Call[] {
  return calls.filter((call) => call.tool.name === asked.tool.name);
}

function bringsNothing(
  history: History,
  asked: Asked,
  policy: CompiledPolicy,
  reported: readonly Call[],
): boolean {
  if (asked.tool.emptyOutput) return false;
  const written = history.calls
    .filter((call) => call.kind === "allowed" && !call.tool.isRead)
    .map((call) => call.actedAt ?? -1);
  const since = asked.tool.changesMatter ? Math.max(-1, ...written) : -1;
  const latestFirst = ofTool(reported, asked)
    .filter((call) => call.order > since)
    .reverse();
  const other = latestFirst.findIndex(
    (call) =>
      call.status === "failed" ||
      call.outputDigest === null ||
      call.outputDigest !== latestFirst[0]?.outputDigest,
  );
  const run = other < 0 ? latestFirst : latestFirst.slice(0, other);
  return new Set(run.map((call) => call.actionKey)).size >= policy.loops.noProgress;
}

function rotates(
  history: History,
  asked: Asked,
  policy: CompiledPolicy,
  recent: readonly Call[],
): boolean {
  const { calls, keys } = policy.loops.rotation;
  if (recent.length < calls || (asked.tool.polling !== null && asked.tool.isRead)) return false;
  const last = recent.slice(-calls);
  if (last.some((call) => !isSinceInput(history, call))) return false;
  if (new Set([asked.actionKey, ...last.map((call) => call.actionKey)]).size > keys) return false;
  const half = recent.length - Math.floor(calls / 2);
  return recent.slice(half).every((call, at) => {
    const before = recent.slice(0, half + at);
    const digest = digestOf(call);
    const oldOutput = digest === null || before.some((other) => digestOf(other) === digest);
    const write = !call.tool.isRead && call.status === "succeeded";
    return oldOutput && !(write && before.every((other) => other.actionKey !== call.actionKey));
  });
}

/** Digest of the result: an output, or an error. */
function digestOf({ status, error, outputDigest }: Call): string | null {
  return status === "failed" ? `error ${error}` : outputDigest;
}

function failsOnAndOn(asked: Asked, policy: CompiledPolicy, reported: readonly Call[]): boolean {
  const { any, sameTool } = policy.loops.failureRun;
  const inARow = reported.slice(-any);
  if (inARow.length >= any && inARow.every(({ status }) => status === "failed")) return true;
  const mine = ofTool(reported, asked).slice(-sameTool);
  return (
    mine.length >= sameTool &&
    mine.every((call) => call.status === "failed" && call.maskedDigest === mine[0]?.maskedDigest)
  );
}
