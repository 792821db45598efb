/**
 * The wider loops of the check `loops`: different calls that bring nothing new. They count within the
 * turn. A new call is never harmless to refuse, so `balanced` only warns of them.
 */
import { isBeforeInput, settledAtMost } from "../state/recent-calls.ts";
import type { RecentCall } from "../state/state.ts";
import { type CallContext, type Finding, finding } from "./check.ts";
import { findDrift } from "./drift.ts";
import { findHandover } from "./handover.ts";

export function findStalls(call: CallContext, findings: Finding[]): void {
  const { modes } = call.tool;
  if (modes.loop_no_progress !== "off") add(findings, noProgress(call));
  if (modes.loop_drift !== "off") add(findings, driftBeyond(call, findings));
  if (modes.loop_rotation !== "off") add(findings, rotation(call) ?? findHandover(call));
  if (modes.failure_run !== "off") add(findings, failureRun(call));
}

/** Where no progress was seen already, drift only refuses. */
function driftBeyond(call: CallContext, findings: readonly Finding[]): Finding | null {
  const drift = findDrift(call);
  const isSeen = findings.some(({ reason }) => reason === "loop_no_progress");
  return drift?.warnsOnly === true && isSeen ? null : drift;
}

function add(findings: Finding[], one: Finding | null): void {
  if (one !== null) findings.push(one);
}

/** Whether the outcome of a call is known and carries information. */
function isReported({ status }: RecentCall): boolean {
  return status === "succeeded" || status === "failed";
}

function isOfOther({ agentId }: RecentCall, proposal: CallContext["proposal"]): boolean {
  return agentId !== proposal.agentId;
}

/** Different calls of this tool with one output, and no write between them. */
function noProgress(call: CallContext): Finding | null {
  const { tool, policy } = call;
  const need = policy.loops.noProgress;
  if (tool.emptyOutput || settledAtMost(call.state) < need) return null;
  if (!gaveOneOutput(call, need)) return null;
  return finding({
    reason: "loop_no_progress",
    rule: "tool_deduplication.no_progress_threshold",
    disposition: "change_approach",
    detail: `The last ${need} different calls of \`${tool.name}\` gave one and the same output.`,
    strikeKey: `tool:${tool.name}`,
  });
}

function gaveOneOutput({ tool, state, proposal }: CallContext, need: number): boolean {
  const { recentCalls, writes } = state;
  const sinceN = tool.changesMatter ? writes.any.doneN : 0;
  const keys: string[] = [];
  let digest: string | null = null;
  for (let at = recentCalls.length - 1; at >= 0; at--) {
    const entry = recentCalls[at] as RecentCall;
    if (isBeforeInput(entry, state) || entry.n < sinceN) return false;
    if (entry.tool !== tool.name || !isReported(entry) || isOfOther(entry, proposal)) continue;
    digest ??= entry.digest;
    if (entry.status === "failed" || entry.digest === null || entry.digest !== digest) return false;
    if (!keys.includes(entry.loopKey)) keys.push(entry.loopKey);
    if (keys.length >= need) return true;
  }
  return false;
}

/** Many calls of few actions, the latter half of which brought nothing new. */
function rotation(call: CallContext): Finding | null {
  const { calls, keys: most } = call.policy.loops.rotation;
  const { recentCalls } = call.state;
  if (recentCalls.length < calls || (call.tool.polling !== null && call.tool.isRead)) return null;
  const keys = [call.loopKey];
  for (let at = recentCalls.length - 1; at >= recentCalls.length - calls; at--) {
    const entry = recentCalls[at] as RecentCall;
    if (isBeforeInput(entry, call.state)) return null;
    if (keys.includes(entry.loopKey)) continue;
    keys.push(entry.loopKey);
    if (keys.length > most) return null;
  }
  for (let at = recentCalls.length - Math.floor(calls / 2); at < recentCalls.length; at++) {
    if (bringsNews(recentCalls, at)) return null;
  }
  return finding({
    reason: "loop_rotation",
    rule: "loops.rotation",
    disposition: "change_approach",
    detail: `The last ${calls} calls were only ${keys.length} different ones.`,
    strikeKey: "rotation",
  });
}

/** Whether the entry is a new write, or has an output that no earlier recent call has. */
function bringsNews(recentCalls: readonly RecentCall[], at: number): boolean {
  const entry = recentCalls[at] as RecentCall;
  let newOutput = entry.digest !== null;
  let newWrite = !entry.isRead && entry.status === "succeeded";
  for (let before = 0; before < at && (newOutput || newWrite); before++) {
    const other = recentCalls[before] as RecentCall;
    if (other.digest === entry.digest) newOutput = false;
    if (other.loopKey === entry.loopKey) newWrite = false;
  }
  return newOutput || newWrite;
}

/** Failures of one tool with one error, or of any tools, without a success between them. */
function failureRun(call: CallContext): Finding | null {
  const { sameTool, any } = call.policy.loops.failureRun;
  const { name } = call.tool;
  if (settledAtMost(call.state) < Math.min(sameTool, any)) return null;
  if (failedLast(call, any, null)) return runFinding(call, `${any} calls in a row failed.`);
  if (!failedLast(call, sameTool, name)) return null;
  return runFinding(call, `${sameTool} calls of \`${name}\` failed in the same way.`);
}

/**
 * Whether the latest `need` calls of the turn failed; for one tool, whether they failed with one
 * error.
 */
function failedLast({ state, proposal }: CallContext, need: number, tool: string | null): boolean {
  const { recentCalls } = state;
  let count = 0;
  let error: string | null = null;
  for (let at = recentCalls.length - 1; at >= 0; at--) {
    const entry = recentCalls[at] as RecentCall;
    if (isBeforeInput(entry, state)) return false;
    if (!isReported(entry) || (tool !== null && entry.tool !== tool)) continue;
    if (isOfOther(entry, proposal)) continue;
    error ??= entry.maskedDigest;
    if (entry.status !== "failed" || (tool !== null && entry.maskedDigest !== error)) return false;
    count += 1;
    if (count >= need) return true;
  }
  return false;
}

function runFinding({ tool }: CallContext, detail: string): Finding {
  return finding({
    reason: "failure_run",
    rule: "loops.failure_run",
    disposition: "change_approach",
    detail,
    strikeKey: `tool:${tool.name}`,
  });
}
