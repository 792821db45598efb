import type { DecisionEvent } from "../../core/events.ts";
import type { ReplayedCall } from "./replay-conversation.ts";

/** One call of a replay as a line of JSON Lines. Absent fields mean that nothing happened. */
export interface DecisionLine {
  readonly id: string;
  readonly index: number;
  readonly tool: string;
  readonly outcome: DecisionEvent["type"];
  /** Why it was refused or held; absent if it is allowed. */
  readonly reason?: string;
  /** The rule of the policy that decided, as a path. */
  readonly rule?: string;
  /** The earlier result answers the call: nothing needed to run. */
  readonly answered?: true;
  /** Escalation level. */
  readonly level?: number;
  /** This refusal stops the conversation. */
  readonly stop?: true;
  readonly warn?: true;
  readonly warnings?: readonly string[];
  /** Reasons in mode `shadow` that would have refused the call. */
  readonly shadow?: readonly string[];
}

export function decisionLine(
  id: string,
  { call, index, decision, stop }: ReplayedCall,
): DecisionLine {
  const {
    notices: { warnings, shadow },
  } = decision;
  return {
    id,
    index,
    tool: call.tool,
    outcome: decision.type,
    ...reasonOf(decision),
    ...(stop ? { stop: true } : {}),
    ...(warnings.length > 0 ? { warn: true, warnings: warnings.map(({ reason }) => reason) } : {}),
    ...(shadow.length > 0 ? { shadow: shadow.map(({ reason }) => reason) } : {}),
  };
}

function reasonOf(decision: DecisionEvent): Partial<DecisionLine> {
  switch (decision.type) {
    case "allowed":
      return {};
    case "held":
      return { reason: "approval_required", rule: decision.rule };
    case "refused": {
      const { reason, rule, level } = decision.refusal;
      return {
        reason,
        rule,
        ...(decision.answered === null ? {} : { answered: true }),
        ...(level === 0 ? {} : { level }),
      };
    }
  }
}
