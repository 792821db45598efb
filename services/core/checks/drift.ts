/**
 * The part of the check `loops` for different calls that bring nothing new: their outputs, volatile parts and
 * what they repeat of their arguments masked, were all seen in this conversation before. Whatever the
 * arguments drift to, and whether one tool is called or two or three in turn, the run is the same.
 */
import { EMPTY_DIGEST } from "../decide/is-empty-result.ts";
import { callsOfAction } from "../state/recent-calls.ts";
import type { RecentCall } from "../state/state.ts";
import { goesOnSweep } from "../state/sweep.ts";
import { type CallContext, type Finding, finding } from "./check.ts";

/** With more tools than this the agent looks around. */
const TOOLS_MAX = 3;

/** After this pause, ms, a call is a job of its own. */
const PAUSE_MS = 3_600_000;

type Speaker = Pick<CallContext["proposal"], "agentId" | "step">;

interface Run {
  readonly tools: readonly string[];
  /** Calls of the turn but those of a sweep, and of all turns, each made for the first time; those of one step count once. */
  readonly ofTurn: number;
  readonly all: number;
  /** The latest of those of the turn, as long as all failed or found nothing. */
  readonly inVain: number;
}

export function findDrift(call: CallContext): Finding | null {
  const { warn, refuse } = call.policy.loops.drift;
  const { tool } = call;
  if (tool.polling !== null || tool.emptyOutput || tool.asksUser) return null;
  const run = runBefore(call, true);
  if (run.tools.includes(tool.name)) {
    if (refuse !== null && isRefused(tool.isRead, run, { warn, refuse })) {
      return driftFinding(run, false);
    }
    if (run.all >= warn) return driftFinding(run, true);
  }
  return refuse === null || tool.isRead ? null : findHandedOn(call, refuse);
}

/** Different writes with one answer are ordinary work, unless tools hand it to one another. */
function findHandedOn(call: CallContext, need: number): Finding | null {
  const run = runBefore(call, false);
  const isHandedOn = run.tools.length > 1 && run.tools.includes(call.tool.name);
  return isHandedOn && run.all >= need ? driftFinding(run, true) : null;
}

/** Calls that failed or found nothing are refused where others are warned of: nobody reads anything in them. */
function isRefused(
  isRead: boolean,
  { ofTurn, inVain }: Run,
  { warn, refuse }: { readonly warn: number; readonly refuse: number },
): boolean {
  return inVain >= Math.min(warn, refuse) || (isRead && ofTurn >= refuse);
}

type Looked = Pick<CallContext, "state" | "nowMs"> & { readonly proposal: Speaker };

/** The latest calls that gave nothing new. `endsAtWrite`: a new write is something new, whatever it gave. */
export function runBefore(call: Looked, endsAtWrite: boolean): Run {
  const tools: string[] = [];
  let [ofTurn, all, inVain] = [0, 0, 0];
  let { step } = call.proposal;
  let isAllInVain = true;
  for (const entry of listNothingNew(call, endsAtWrite)) {
    if (!tools.includes(entry.tool)) {
      if (tools.length === TOOLS_MAX) break;
      tools.push(entry.tool);
    }
    if (entry.step !== null && entry.step === step) continue;
    step = entry.step;
    all += 1;
    if (entry.turnIndex !== call.state.turn.index || isOfSweep(call, entry)) continue;
    ofTurn += 1;
    isAllInVain &&= isInVain(entry);
    if (isAllInVain) inVain += 1;
  }
  return { tools, ofTurn, all, inVain };
}

/** The agent's calls of that kind that were made for the first time, latest first. */
function listNothingNew(call: Looked, endsAtWrite: boolean): readonly RecentCall[] {
  const { recentCalls, turn } = call.state;
  const listed: RecentCall[] = [];
  let next = call.nowMs;
  for (let at = recentCalls.length - 1; at >= 0; at--) {
    const entry = recentCalls[at] as RecentCall;
    if (entry.agentId !== call.proposal.agentId || !isReported(entry)) continue;
    if (entry.isNew || entry.n < turn.answeredN || next - entry.atMs >= PAUSE_MS) break;
    next = entry.atMs;
    if (!isFirst(call, entry)) continue;
    if (endsAtWrite && isWrite(entry)) break;
    listed.push(entry);
  }
  return listed;
}

/** Each call of a sweep is a question of its own: the model is warned of many with one answer. */
function isOfSweep({ state }: Pick<CallContext, "state">, entry: RecentCall): boolean {
  return entry.status === "succeeded" && goesOnSweep(state.recentCalls, entry);
}

function isWrite({ isRead, status }: RecentCall): boolean {
  return !isRead && status === "succeeded";
}

/** A failure that may pass says nothing of the next call. */
function isInVain({ status, transient, maskedDigest }: RecentCall): boolean {
  return status === "failed" ? !transient : maskedDigest === EMPTY_DIGEST;
}

/** Whether its outcome is known: what was not reported is neither new nor old. */
function isReported({ status, maskedDigest }: RecentCall): boolean {
  return maskedDigest !== null && (status === "succeeded" || status === "failed");
}

/** Whether its action was not called before: what is looked at again is another matter. */
function isFirst({ state }: Pick<CallContext, "state">, entry: RecentCall): boolean {
  return callsOfAction(state, entry.loopKey)[0]?.decisionId === entry.decisionId;
}

function driftFinding({ tools, all }: Run, warnsOnly: boolean): Finding {
  const names = tools.map((name) => `\`${name}\``);
  return finding({
    reason: "loop_drift",
    rule: "loops.drift",
    disposition: "change_approach",
    detail: `The last ${all} different calls of ${names.join(", ")} gave nothing that was not seen before.`,
    strikeKey: "drift",
    warnsOnly,
  });
}
