import type { Decision, DecisionListener } from "../api/gate-types.ts";

/** Calls the listener. Errors that it throws become process warnings and do not affect the call. */
export function notifyListener(listener: DecisionListener | undefined, decision: Decision): void {
  if (listener === undefined) return;
  try {
    listener(decision);
  } catch (error) {
    process.emitWarning(error instanceof Error ? error : String(error), "CallgateListener");
  }
}
