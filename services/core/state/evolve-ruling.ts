/** Computes the state after a verdict that decides no call by itself. */

import { trieGet } from "../../collections/trie.ts";
import type { VerdictRuled } from "../events.ts";
import { assertNever } from "../invariant.ts";
import { afterRuling } from "./manual-grants.ts";
import { putOpen } from "./open-calls.ts";
import { type ConversationState, NO_FLAGS, type StateDraft } from "./state.ts";

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
