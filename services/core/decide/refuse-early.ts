/**
 * Refuses a call before the checks judge it, because its text, tool or arguments are not
 * acceptable. The call uses up budgets, and an agent that goes on like this climbs the escalation
 * levels as in any other loop. A stop of the conversation refuses such a call, too.
 */
import { budgetsCheck } from "../checks/budgets.ts";
import { type CallContext, type Finding, finding, strikeKeyOf } from "../checks/check.ts";
import { conversationCheck } from "../checks/conversation.ts";
import type { DecisionEvent } from "../events.ts";
import type { Advice } from "./advice.ts";
import { conclude } from "./conclude.ts";
import type { DecisionDraft } from "./draft-decision.ts";
import type { PlainRefusal } from "./refuse-unread.ts";
import { findEnforced } from "./run-checks.ts";

export function refuseEarly(
  call: CallContext,
  draft: DecisionDraft,
  plain: PlainRefusal,
  advice: Advice,
): DecisionEvent {
  // A confirmation that the call carries is not used up.
  const own = { ...call, isConfirmed: false };
  const earlyFinding = stopOf(own, plain, advice) ?? makeFinding(own, plain);
  draft.notices = advice.notices;
  return conclude(own, draft, earlyFinding, null);
}

/** A call that an operator switched off is refused for that, whatever else is wrong with it. */
function stopOf(call: CallContext, { reason }: PlainRefusal, advice: Advice): Finding | null {
  if (reason === "killed") return null;
  return findEnforced(call, [...conversationCheck.find(call), ...budgetsCheck.find(call)], advice);
}

function makeFinding(call: CallContext, plain: PlainRefusal): Finding {
  const { reason, rule, disposition, detail, problems = [] } = plain;
  const strikeKey = strikeKeyOf(call, reason);
  return finding({ reason, rule, disposition, detail, problems, strikeKey });
}
