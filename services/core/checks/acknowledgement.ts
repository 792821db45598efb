/**
 * Refuses the call that was refused before where the gate waits for an acknowledgement. It runs after
 * the loops: a call that another check refuses gets that check's reason.
 */
import { type CallContext, defineCheck, type Finding, NOTHING } from "./check.ts";
import { askForAcknowledgement } from "./conversation.ts";

export const acknowledgementCheck = defineCheck("acknowledgement", { find: findSameCall });

function findSameCall(call: CallContext): readonly Finding[] {
  const { policy, state, actionKey, isConfirmed, wasHeld } = call;
  const asked = state.flags.acknowledge;
  if (policy.acknowledgement !== "explicit" || wasHeld || isConfirmed) return NOTHING;
  return asked === actionKey ? [askForAcknowledgement(null)] : NOTHING;
}
