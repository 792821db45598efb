/**
 * Folds an event into the state. It knows no policy; everything it needs is in the event.
 *
 * EVOLVE-1 an event kind that is not handled does not compile.
 * EVOLVE-2 the same events give the same state, whatever policy, process or clock applies them.
 */

import { trieGet } from "../../collections/trie.ts";
import type { GateEvent, VerdictRuled } from "../events.ts";
import { assertNever, invariant } from "../invariant.ts";
import { evolveClaim } from "./claims.ts";
import { evolveDecision } from "./evolve-decision.ts";
import { evolveOutcome } from "./evolve-outcome.ts";
import { afterRuling } from "./manual-grants.ts";
import { putOpen } from "./open-calls.ts";
import { type ConversationState, NO_FLAGS, type StateDraft } from "./state.ts";

/** Undefined: the conversation does not exist, before or after. */
export function evolve(
  state: ConversationState | undefined,
  event: GateEvent,
): ConversationState | undefined {
  switch (event.type) {
    case "allowed":
    case "refused":
    case "held":
      return evolveDecision(state, event);
    case "result_recorded":
    case "outcome_unknown":
    case "reconciled":
      invariant(state !== undefined, `\`${event.type}\` needs a conversation`);
      return evolveOutcome(state, event);
    case "ruled":
      invariant(state !== undefined, "`ruled` needs a conversation");
      return evolveRuling(state, event);
    case "claimed":
      return evolveClaim(state, event);
    case "repeated":
    case "ignored":
      return state;
    default:
      return assertNever(event);
  }
}

export function evolveRuling(before: ConversationState, event: VerdictRuled): ConversationState {
  switch (event.kind) {
    case "approve":
      return withApproval(before, event);
    case "grant":
    case "revoke":
      return { ...before, manualGrants: afterRuling(before.manualGrants, event, before.n) };
    case "resume":
      return { ...before, flags: NO_FLAGS, strikes: [], cycle: null };
    case "end":
      return { ...before, flags: { ...before.flags, ended: "conversation" } };
    default:
      return assertNever(event.kind);
  }
}

function withApproval(before: ConversationState, event: VerdictRuled): ConversationState {
  const open = event.decisionId === null ? undefined : trieGet(before.open, event.decisionId);
  if (open?.held?.holdId !== event.approvalId || open === undefined) return before;
  const state: StateDraft = { ...before };
  putOpen(state, { ...open, approvedBy: [...open.approvedBy, event.by] });
  return state;
}
