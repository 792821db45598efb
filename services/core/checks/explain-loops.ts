/** The row `loops` of `policy explain`: for each rule on repetition that bears on the call, one sentence. */

import { findPriorCall } from "../state/prior-calls.ts";
import { callsOfAction, loopKeyOf } from "../state/recent-calls.ts";
import type { ConversationState, RecentCall } from "../state/state.ts";
import { findPattern, findPatternBetween, isMovingRound } from "./cycle.ts";
import { runBefore } from "./drift.ts";
import type { ExplainedCall } from "./explain-row.ts";
import { pauseAfter } from "./failure-streak.ts";
import { explainHandover } from "./handover.ts";
import { isSeenToMove, paceOf, waitAfterEqual } from "./repeat.ts";

const MS_PER_S = 1_000;

export function explainLoops(call: ExplainedCall): string {
  const { state, unenforced, tool, proposal } = call;
  const own = loopKeyOf(unenforced.arguments.actionKey, proposal.agentId);
  const same = state === undefined ? [] : callsOfAction(state, own);
  if (tool.polling !== null) {
    const wait = tool.polling.min_interval_ms === undefined ? explainWait(call) : "";
    return [`polling, ${same.length} calls so far`, wait].filter((row) => row !== "").join("; ");
  }
  const rows = [`${same.length} equal calls remembered`, explainRepeat(call, same)];
  if (state !== undefined) {
    rows.push(
      explainStreak(call, same, state),
      explainRounds(call, own, state),
      explainDrift(call, state),
      explainHandover({ policy: call.policy, state, tool, proposal }),
      explainAgents(call, own, state),
      explainPerson(state),
    );
  }
  return rows.filter((row) => row !== "").join("; ");
}

/** Of a read that showed one output many times. */
function explainWait({ policy, tool, nowMs, state, unenforced }: ExplainedCall): string {
  if (!tool.isRead || state === undefined || unenforced.type !== "allowed") return "";
  const priorCall = findPriorCall(state, unenforced.facts.priorKey, true, nowMs);
  const waitMs = waitAfterEqual({ policy, priorCall, nowMs });
  if (priorCall === undefined || waitMs <= 0) return "";
  return `${priorCall.sameOutputs} looks in a row showed one output, so the next waits ${Math.ceil(waitMs / MS_PER_S)} s`;
}

function explainRepeat(call: ExplainedCall, same: readonly RecentCall[]): string {
  const { policy, tool, nowMs, state } = call;
  const { sameOutput } = policy.loops;
  if (sameOutput === null) return "no limit on one output";
  const paceS = paceOf(tool) / MS_PER_S;
  const limit = `refused at ${sameOutput} with one output (times, ids of requests and the like masked), where less than ${paceS} s lie between them`;
  const latest = same.at(-1);
  const wait = explainWait(call);
  if (wait !== "") return `${limit}; ${wait}`;
  if (latest !== undefined && state !== undefined && isSeenToMove({ tool, state }, same)) {
    return `${limit}: a read after the latest showed a change, so this is no repeat`;
  }
  if (latest === undefined || nowMs - latest.atMs < paceOf(tool)) return limit;
  const pauseS = Math.floor((nowMs - latest.atMs) / MS_PER_S);
  return `${limit}: the latest was ${pauseS} s ago, so this is no repeat`;
}

function explainStreak(
  { policy, nowMs, unenforced }: ExplainedCall,
  same: readonly RecentCall[],
  { turn }: ConversationState,
): string {
  const latest = same.at(-1);
  if (latest?.status !== "failed") return "";
  const { failureSame, failureTransient, failureTurns, failurePauseMs } = policy.loops;
  const need = latest.transient ? failureTransient : failureSame;
  const { min, max } = failurePauseMs;
  const rule = `after ${need} equal failures in a turn, or in ${failureTurns} turns, a try waits ${min / MS_PER_S} to ${max / MS_PER_S} s`;
  const failures = same.filter(({ maskedDigest }) => maskedDigest === latest.maskedDigest);
  const inTurn = failures.filter(({ turnIndex }) => turnIndex === turn.index).length;
  const turns = new Set(failures.map(({ turnIndex }) => turnIndex)).size;
  const beyond = Math.max(inTurn - need, turns - failureTurns);
  if (beyond < 0) return rule;
  const waitMs = latest.atMs + pauseAfter(policy.loops, beyond) - nowMs;
  if (unenforced.policy.isRead && waitMs <= 0)
    return `${rule}: the pause is over, so this try runs`;
  return waitMs <= 0
    ? `${rule}: the pause is over`
    : `${rule}: ${Math.ceil(waitMs / MS_PER_S)} s are left`;
}

function explainRounds(call: ExplainedCall, own: string, state: ConversationState): string {
  const { policy, tool, proposal } = call;
  const pattern = findPattern({ policy, state, proposal }, own);
  if (pattern === null) return explainBetween(call, own, state);
  const round = `the same ${pattern.keys.length} calls came round ${policy.loops.cycleRounds} times`;
  return isMovingRound({ policy, tool }, pattern)
    ? `${round}, but the last round gave a new output, so they are no cycle`
    : `${round} without a new output`;
}

function explainBetween(call: ExplainedCall, own: string, state: ConversationState): string {
  const { policy, tool, proposal, nowMs } = call;
  const pattern = findPatternBetween({ policy, tool, state, proposal, nowMs }, own);
  if (pattern === null) return "";
  const agents = new Set(pattern.recentCalls.slice(-pattern.period).map(({ agentId }) => agentId));
  return `${agents.size} agents made the same ${pattern.keys.length} calls in turn ${policy.loops.cycleRounds} times: the cycle is one of the conversation`;
}

function explainDrift(call: ExplainedCall, state: ConversationState): string {
  const { policy, tool, proposal, nowMs } = call;
  const { warn, refuse } = policy.loops.drift;
  const run = runBefore({ state, proposal, nowMs }, true);
  if (run.all === 0 || !run.tools.includes(tool.name)) return "";
  const limit = refuse === null ? "never refused" : `refused at ${refuse} in a turn`;
  const vain =
    run.inVain === 0 ? "" : `, ${run.inVain} of them failed or found nothing: refused at ${warn}`;
  return `${run.all} different calls of ${run.tools.join(", ")} gave nothing new (repeated arguments masked too): warned at ${warn}, ${limit}${refuse === null ? "" : vain}`;
}

function explainAgents(
  { unenforced, proposal }: ExplainedCall,
  own: string,
  state: ConversationState,
): string {
  const { actionKey } = unenforced.arguments;
  const others = state.recentCalls.filter(
    ({ loopKey, agentId }) =>
      loopKey !== own && agentId !== proposal.agentId && loopKey.startsWith(actionKey),
  );
  return others.length === 0
    ? ""
    : `${others.length} equal calls of other agents do not count against this one`;
}

function explainPerson({ turn }: ConversationState): string {
  return turn.answeredN === 0
    ? ""
    : "a person answered in this turn, so reads and failures before that do not count";
}
