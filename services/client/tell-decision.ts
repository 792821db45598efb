import type { Decision, DecisionListener } from "./gate-types.ts";

/** Nothing that a listener does changes the call: what it throws becomes a warning of the process. */
export function tellDecision(listener: DecisionListener | undefined, decision: Decision): void {
  if (listener === undefined) return;
  try {
    listener(decision);
  } catch (error) {
    process.emitWarning(error instanceof Error ? error : String(error), "CallgateListener");
  }
}
