/** Decisions as answers show them. */
import { CallgateError } from "../client/api/callgate-error.ts";
import type { Decision } from "../client/api/gate-types.ts";
import { decisionOf } from "../client/decisions/decision-view.ts";
import type { DecisionEvent } from "../core/events.ts";
import type { Principal } from "./access/principal.ts";
import type { ServedGate } from "./served-gate.ts";

/** Who may only read sees neither keys nor sensitive arguments. */
export function showTo(
  { client }: ServedGate,
  principal: Principal,
  event: DecisionEvent,
): Decision {
  if (principal.roles.has("propose") || principal.roles.has("execute"))
    return client.show(event, true);
  return decisionOf(event, {
    repeated: true,
    keyOf: () => undefined,
    argumentsOf: () => undefined,
  });
}

/** The terminal decision, or the held one where nobody answered in time. */
export async function decidedWithin(
  waitMs: number,
  held: Decision,
  wait: () => Promise<Decision>,
): Promise<Decision> {
  if (waitMs === 0) return held;
  try {
    return await wait();
  } catch (error) {
    if (error instanceof CallgateError && error.code === "timeout") return held;
    if (error instanceof DOMException && error.name === "AbortError") return held;
    throw error;
  }
}
