/**
 * Check 7: the same call again. The question is not whether the arguments are equal but whether
 * anything changed since: a repeat is meant where it did (docs/engine.md, duplicates).
 */
import type { Twin } from "../state/state.ts";
import { findHeldTwin, findTwin } from "../state/twins.ts";
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
  const held = findHeldTwin(call.state, call.facts.twinKey, call.decisionId);
  if (held?.held && !isBatch(call, held.held.call) && !isToggle(call)) return [waitForApproval()];
  const { twin, tool } = call;
  if (twin === undefined || (tool.polling !== null && tool.isRead)) return NOTHING;
  switch (twin.status) {
    case "in_flight":
      return isBatch(call, twin) || isToggle(call) ? NOTHING : [inFlight(call, twin)];
    case "unknown":
      return tool.isRead || tool.repeatable || call.covered ? NOTHING : [unknownOutcome(twin)];
    case "succeeded":
      return repeated(call, twin);
    case "failed":
      return retries === null ? NOTHING : findRetry(call, twin, retries);
    case "not_executed":
    case "held":
      return NOTHING;
  }
}

function repeated(call: CallContext, twin: Twin): readonly Finding[] {
  if (call.covered) return NOTHING;
  const { tool, nowMs } = call;
  if (tool.isRead) return isAnswerable(call, twin) ? [answered(twin)] : NOTHING;
  if (tool.answersAsRead && nowMs < twin.atMs + tool.cacheMs) {
    if (twin.repeats + 1 < call.policy.answersFromRepeat) return NOTHING;
    if (isAnswerable(call, twin)) return [answered(twin)];
  }
  return isDuplicateWrite(call, twin) ? [duplicate(call, twin)] : NOTHING;
}

/** The earlier output is fresh, whole, and nothing that it shows can have changed. */
function isAnswerable(call: CallContext, twin: Twin): boolean {
  const { tool, nowMs, policy } = call;
  if (tool.volatile || !twin.whole || nowMs >= twin.windowUntilMs) return false;
  if (twin.repeats + 1 < policy.answersFromRepeat) return false;
  return !tool.changesMatter || !hasChanged(call, twin.n);
}

function isDuplicateWrite(call: CallContext, twin: Twin): boolean {
  const { tool, nowMs } = call;
  if (tool.repeatable || tool.namesNoObject || nowMs >= twin.windowUntilMs) return false;
  if (isBatch(call, twin)) return false;
  return !tool.changesMatter || !hasChanged(call, twin.n);
}

/** Equal arguments prove nothing of a write that takes none: toggle, reboot, next, undo. */
function isToggle({ tool }: CallContext): boolean {
  return tool.namesNoObject && !tool.isRead;
}

/** Parallel calls of one step, of a tool that is declared to take several equal ones. */
export function isBatch(
  { tool, proposal }: Pick<CallContext, "tool" | "proposal">,
  twin: Pick<Twin, "turn" | "step">,
): boolean {
  return (
    tool.batchable &&
    proposal.step !== null &&
    proposal.step === twin.step &&
    proposal.turn === twin.turn
  );
}

function answered(twin: Twin): Finding {
  return finding({
    reason: "duplicate_call",
    rule: "deduplication",
    disposition: "use_previous_result",
    previous: twin,
    answered: true,
  });
}

function duplicate(call: CallContext, twin: Twin): Finding {
  return finding({
    reason: "duplicate_call",
    rule: "deduplication",
    disposition: "use_previous_result",
    previous: twin,
    resolution: call.proposal.turn === null ? "none" : "confirmation",
  });
}

function inFlight({ nowMs, tool }: CallContext, twin: Twin): Finding {
  const untilLimit = twin.atMs + tool.timeLimitMs - nowMs;
  return finding({
    reason: "duplicate_in_flight",
    rule: "deduplication",
    disposition: "wait",
    previous: twin,
    retryAfterMs: Math.max(0, Math.min(ASK_AGAIN_MS, untilLimit)) || ASK_AGAIN_MS,
    resolution: "retry_after",
  });
}

function waitForApproval(): Finding {
  return finding({
    reason: "duplicate_in_flight",
    rule: "deduplication",
    disposition: "wait",
    detail: "The same call is waiting for a person to approve it.",
    retryAfterMs: ASK_AGAIN_MS,
    resolution: "retry_after",
  });
}

function unknownOutcome(twin: Twin): Finding {
  return finding({
    reason: "outcome_unknown",
    rule: "deduplication",
    disposition: "ask_user",
    previous: twin,
    resolution: "confirmation",
  });
}

function showPriorCall({ state, unenforced, tool, nowMs }: ExplainedCall): string {
  if (state === undefined || unenforced.type !== "allowed") return "no such call before";
  const twin = findTwin(state, unenforced.facts.twinKey, tool.isRead, nowMs);
  if (twin === undefined) return "no such call before";
  const ageS = ((nowMs - twin.atMs) / 1000).toFixed(0);
  const windowMs = tool.isRead ? tool.cacheMs : tool.windowMs;
  const what = tool.isRead ? "answered from memory for" : "a duplicate for";
  return `call ${twin.callId} ${twin.status} ${ageS} s ago; ${what} ${windowMs / 1000} s`;
}
