/**
 * Finds the same call again. The question is not whether the arguments are equal but whether anything
 * changed since: then a repeat is meant (docs/engine.md, duplicates).
 */

import { trieGet } from "../../collections/trie.ts";
import { showsPending } from "../decide/shows-pending.ts";
import type { CallHeld } from "../events.ts";
import type { CompiledTool } from "../policy/compiled.ts";
import { findHeldPriorCall, findPriorCall } from "../state/prior-calls.ts";
import type { PriorCall } from "../state/state.ts";
import { hasChanged } from "./changed.ts";
import { type CallContext, defineCheck, type Finding, finding, NOTHING } from "./check.ts";
import type { ExplainedCall } from "./explain-row.ts";
import { compileRetries, findRetry, type Retries } from "./retry.ts";

/** How soon to ask again for a call in flight, where its deadline does not say, ms. */
const ASK_AGAIN_MS = 1_000;

export const duplicateCheck = defineCheck<Retries | null>("duplicate", {
  find: findDuplicate,
  compile: compileRetries,
  row: { rule: () => "deduplication", value: showPriorCall },
});

function findDuplicate(call: CallContext, retries: Retries | null): readonly Finding[] {
  const held = findHeldPriorCall(call.state, call.facts.priorKey, call.decisionId);
  if (held !== null && !mayRunBeside(call, held.call)) return [waitForApproval(held)];
  const { priorCall, tool } = call;
  if (priorCall === undefined || (tool.polling !== null && tool.isRead)) return NOTHING;
  switch (priorCall.status) {
    case "in_flight":
      return mayRunBeside(call, priorCall) ? NOTHING : [inFlight(call, priorCall)];
    case "unknown":
      return tool.isRead || tool.repeatable || call.isConfirmed || isShownAbsent(call, priorCall)
        ? NOTHING
        : [unknownOutcome(priorCall)];
    case "succeeded":
      return findRepeatOfSuccess(call, priorCall);
    case "failed":
      return retries === null ? NOTHING : findRetry(call, priorCall, retries);
    case "not_executed":
    case "held":
      return NOTHING;
  }
}

/** Whether a read after a write of unknown outcome showed that it did nothing, and the policy relies on that. */
export function isShownAbsent(
  { policy, state }: Pick<CallContext, "policy" | "state">,
  { decisionId }: Pick<PriorCall, "decisionId">,
): boolean {
  return policy.retriesAbsent && trieGet(state.open, decisionId)?.shown === "nothing";
}

function findRepeatOfSuccess(call: CallContext, priorCall: PriorCall): readonly Finding[] {
  if (call.isConfirmed) return NOTHING;
  const { tool, nowMs } = call;
  if (tool.isRead) return isAnswerable(call, priorCall) ? [answered(priorCall)] : NOTHING;
  if (tool.answersAsRead && nowMs < priorCall.atMs + tool.cacheMs) {
    if (priorCall.repeats + 1 < call.policy.answersFromRepeat) return NOTHING;
    if (isAnswerable(call, priorCall)) return [answered(priorCall)];
  }
  return isDuplicateWrite(call, priorCall) ? [duplicate(call, priorCall)] : NOTHING;
}

/** The earlier output is fresh, whole, and nothing that it shows can have changed. */
function isAnswerable(call: CallContext, priorCall: PriorCall): boolean {
  const { tool, nowMs, policy } = call;
  // A person who was asked since may have changed what it shows.
  if (priorCall.n < call.state.turn.answeredN) return false;
  if (tool.volatile || !priorCall.whole || nowMs >= priorCall.windowUntilMs) return false;
  if (priorCall.repeats + 1 < policy.answersFromRepeat) return false;
  return !tool.changesMatter || !hasChanged(call, priorCall.n);
}

function isDuplicateWrite(call: CallContext, priorCall: PriorCall): boolean {
  const { tool, nowMs } = call;
  if (isRepeatMeant(tool) || isBatch(call, priorCall)) return false;
  if (nowMs >= priorCall.windowUntilMs && !isOfOneStep(call, priorCall)) return false;
  return !tool.changesMatter || !hasChanged(call, priorCall.n);
}

/** Whether each repeat of a write that succeeded is meant: equal arguments prove nothing then. */
export function isRepeatMeant(tool: Pick<CompiledTool, "repeatable" | "namesNoObject">): boolean {
  return tool.repeatable || tool.namesNoObject;
}

/** Whether the call may run while its prior call has not ended. */
function mayRunBeside(call: CallContext, priorCall: Pick<PriorCall, "turn" | "step">): boolean {
  const { tool } = call;
  return isBatch(call, priorCall) || (tool.namesNoObject && !tool.isRead);
}

/** Parallel calls of one step, of a tool that is declared to take several equal ones. */
export function isBatch(
  call: Pick<CallContext, "tool" | "proposal">,
  priorCall: Pick<PriorCall, "turn" | "step">,
): boolean {
  return call.tool.batchable && isOfOneStep(call, priorCall);
}

/** Whether one model message issued both: a second one long after the first was replayed. */
function isOfOneStep(
  { proposal }: Pick<CallContext, "proposal">,
  priorCall: Pick<PriorCall, "turn" | "step">,
): boolean {
  return (
    proposal.step !== null && proposal.step === priorCall.step && proposal.turn === priorCall.turn
  );
}

function answered(priorCall: PriorCall): Finding {
  return finding({
    reason: "duplicate_call",
    rule: "deduplication",
    disposition: "use_previous_result",
    previous: priorCall,
    answered: true,
  });
}

function duplicate(call: CallContext, priorCall: PriorCall): Finding {
  return finding({
    reason: "duplicate_call",
    rule: "deduplication",
    disposition: "use_previous_result",
    previous: priorCall,
    resolution: call.proposal.turn === null ? "none" : "confirmation",
  });
}

function inFlight({ nowMs, tool }: CallContext, priorCall: PriorCall): Finding {
  const untilLimit = priorCall.atMs + tool.timeLimitMs - nowMs;
  return finding({
    reason: "duplicate_in_flight",
    rule: "deduplication",
    disposition: "wait",
    previous: priorCall,
    retryAfterMs: Math.max(0, Math.min(ASK_AGAIN_MS, untilLimit)) || ASK_AGAIN_MS,
    resolution: "retry_after",
  });
}

/** The agent may have lost the answer that named the approval, so this one names it again. */
function waitForApproval({ decisionId, call, times, holdId }: CallHeld): Finding {
  const { callId, tool } = call;
  return finding({
    reason: "duplicate_in_flight",
    rule: "deduplication",
    disposition: "wait",
    detail: "The same call is waiting for a person to approve it.",
    earlier: { callId, decisionId, tool, atMs: times.atMs, status: "held" },
    retryAfterMs: ASK_AGAIN_MS,
    resolution: "approval",
    approvalId: holdId,
  });
}

function unknownOutcome(priorCall: PriorCall): Finding {
  return finding({
    reason: "outcome_unknown",
    rule: "deduplication",
    disposition: "ask_user",
    // Not for the model, which might have a shell to run it in.
    userMessage: `It is not known whether ${priorCall.tool} took effect. Look there, then settle it: \`callgate calls reconcile ${priorCall.decisionId} --outcome succeeded\` (or failed, not_executed).`,
    previous: priorCall,
    resolution: "confirmation",
  });
}

function showPriorCall(call: ExplainedCall): string {
  const { state, unenforced, tool, nowMs } = call;
  if (state === undefined || unenforced.type !== "allowed") return "no such call before";
  const priorCall = findPriorCall(state, unenforced.facts.priorKey, tool.isRead, nowMs);
  if (priorCall === undefined) return "no such call before";
  const ageS = ((nowMs - priorCall.atMs) / 1000).toFixed(0);
  const windowMs = tool.isRead ? tool.cacheMs : tool.windowMs;
  const what = tool.isRead ? "answered from memory for" : "a duplicate for";
  const seen = `call ${priorCall.callId} ${priorCall.status} ${ageS} s ago; ${what} ${windowMs / 1000} s`;
  if (priorCall.status === "unknown" && !tool.isRead) {
    return `${seen}; ${whatWasShown(call, priorCall)}`;
  }
  const why =
    tool.isRead && priorCall.status === "succeeded" ? whyItRuns(state, priorCall, tool) : "";
  return why === "" ? seen : `${seen}; runs, since ${why}`;
}

/** What reads after it showed of a write whose outcome is unknown. */
function whatWasShown({ state, policy }: ExplainedCall, { decisionId }: PriorCall): string {
  const shown = state === undefined ? null : (trieGet(state.open, decisionId)?.shown ?? null);
  if (shown === null) return "no read after it shows whether it took effect";
  if (shown === "effect") return "a read after it names it, so it may have taken effect";
  return policy.retriesAbsent
    ? "a read after it shows that it did nothing, so it runs again under its key"
    : "a read after it shows that it did nothing; `idempotency.unknown_outcome: retry_if_absent` would let it run";
}

/** Why a read is not answered from memory, whatever its age. */
function whyItRuns(
  { turn, writes }: NonNullable<ExplainedCall["state"]>,
  priorCall: PriorCall,
  { volatile, changesMatter }: ExplainedCall["tool"],
): string {
  if (volatile) return "the tool is volatile, or asks for a fresh answer";
  if (showsPending(priorCall.output)) return "its output says that work goes on";
  if (!priorCall.whole) return "its output was not kept whole";
  if (priorCall.n < turn.answeredN) return "a person answered after it";
  return changesMatter && writes.any.doneN > priorCall.n
    ? "something was written after it, if it depends on that"
    : "";
}
