/**
 * Holds a write that touches what a denied call of the tool would have touched. It runs after the
 * tier, which has let the call through.
 */
import { type CallContext, defineCheck, type Finding, finding, NOTHING } from "./check.ts";
import { deniedBefore, isMeant, isOfTool, isOfTurn, touchesSame } from "./denials.ts";

export const deniedFormsCheck = defineCheck("denied_forms", { find: findDeniedForm });

function findDeniedForm(call: CallContext): readonly Finding[] {
  if (isMeant(call) || call.tool.isRead) return NOTHING;
  const denied = call.state.denials.findLast(
    (one) => isOfTurn(one, call) && isOfTool(one, call) && touchesSame(one, call) === true,
  );
  if (denied === undefined) return NOTHING;
  const { rule, expiresMs, requireReason, approvals } = denied;
  return [
    finding({
      reason: "approval_required",
      rule,
      disposition: "wait",
      detail: deniedBefore(denied),
      hold: { expiresMs, requireReason, approvals },
      resolution: "approval",
    }),
  ];
}
