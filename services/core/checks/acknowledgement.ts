/** Check 5 again, after the others: the refused call itself, which nothing else refuses any more, is no other way. */
import { type CallContext, defineCheck, type Finding, NOTHING } from "./check.ts";
import { askForAcknowledgement } from "./conversation.ts";

export const acknowledgementCheck = defineCheck("acknowledgement", { find: findSameCall });

function findSameCall(call: CallContext): readonly Finding[] {
  const { policy, state, actionKey, isConfirmed, wasHeld } = call;
  const asked = state.flags.acknowledge;
  if (policy.acknowledgement !== "explicit" || wasHeld || isConfirmed) return NOTHING;
  return asked === actionKey ? [askForAcknowledgement(null)] : NOTHING;
}
