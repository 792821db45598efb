/**
 * A call that is refused before the checks judge it: its text, its tool or its arguments will not do. It uses up budgets,
 * and who goes on so climbs the ladder, as in any other loop. What stops the conversation stops it, too.
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
  // A confirmation that it carries is not spent on it.
  const own = { ...call, isConfirmed: false };
  const earlyFinding = stopOf(own, plain, advice) ?? makeFinding(own, plain);
  draft.notices = advice.notices;
  return conclude(own, draft, earlyFinding, null);
}

/** What an operator has switched off is refused as that, whatever else speaks against it. */
function stopOf(call: CallContext, { reason }: PlainRefusal, advice: Advice): Finding | null {
  if (reason === "killed") return null;
  return findEnforced(call, [...conversationCheck.find(call), ...budgetsCheck.find(call)], advice);
}

function makeFinding(call: CallContext, plain: PlainRefusal): Finding {
  const { reason, rule, disposition, detail, problems = [] } = plain;
  const strikeKey = strikeKeyOf(call, reason);
  return finding({ reason, rule, disposition, detail, problems, strikeKey });
}
