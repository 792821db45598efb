/**
 * A decision as the state retains it, to answer a proposal that is delivered again: the decision
 * without the text of its arguments, which the proposal brings again. Equal decision ids mean equal
 * texts.
 */
import type { DecisionEvent } from "../events.ts";

export type RetainedDecision = DecisionEvent;

export function keepDecision(decision: DecisionEvent): RetainedDecision {
  return withText(decision, "");
}

/** Restores the decision as it was made. */
export function recallDecision(retained: RetainedDecision, text: string): DecisionEvent {
  return withText(retained, text);
}

function withText<D extends DecisionEvent>(decision: D, text: string): D {
  return { ...decision, arguments: { ...decision.arguments, text } };
}
