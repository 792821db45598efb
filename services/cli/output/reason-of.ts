import type { CallAllowed, DecisionEvent } from "../../core/events.ts";

/** The reason code of a decision; null: the call was allowed. */
export function reasonOf(decision: Exclude<DecisionEvent, CallAllowed>): string;
export function reasonOf(decision: DecisionEvent): string | null;
export function reasonOf(decision: DecisionEvent): string | null {
  switch (decision.type) {
    case "allowed":
      return null;
    case "held":
      return "approval_required";
    case "refused":
      return decision.refusal.reason;
  }
}
