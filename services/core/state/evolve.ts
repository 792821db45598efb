/**
 * The fold: state after an event. Knows no policy; everything it needs is in the event.
 *
 * EVOLVE-1 an event kind that is not handled does not compile.
 * EVOLVE-2 the same events give the same state, whatever policy, process or clock applies them.
 */
import type { GateEvent } from "../events.ts";
import { assertNever, invariant } from "../invariant.ts";
import { evolveDecision } from "./evolve-decision.ts";
import { evolveOutcome } from "./evolve-outcome.ts";
import { evolveRuling } from "./evolve-ruling.ts";
import type { ConversationState } from "./state.ts";

/** Undefined: nothing is known of the conversation, before and after. */
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
    case "repeated":
    case "ignored":
      return state;
    default:
      return assertNever(event);
  }
}
