/** Decisions as the Authorization API answers them: `true` only for a call that may run now. */
import type {
  AllowedDecision,
  Decision,
  HeldDecision,
  ProposedCall,
  RefusedDecision,
} from "../../client/api/gate-types.ts";
import type { AuthzenDecision, DecisionContext } from "../schemas/authzen.ts";

type AnswerOptions = {
  readonly nowMs: number;
  /** Of access requests. */
  readonly endpoint: string;
  /** The approval that the request carried, where it is about this call. */
  readonly approvalId?: string | undefined;
};

export function answerDecision(
  decision: Decision,
  { conversationId }: ProposedCall,
  options: AnswerOptions,
): AuthzenDecision {
  const { decisionId: evaluation_id, callId: call_id, repeated } = decision;
  const common: DecisionContext = {
    ...(evaluation_id === undefined ? {} : { evaluation_id }),
    ...{ conversation_id: conversationId, call_id, repeated },
  };
  switch (decision.outcome) {
    case "allowed":
      return answerAllowed(decision, common, options);
    case "refused":
      return answerRefused(decision, common, options);
    case "held":
      return answerHeld(decision, common, options);
  }
}

/** The recorded decision is `allowed` for ever; the call may start only until `notAfter`. */
function answerAllowed(
  { notAfter, timeLimitMs, idempotencyKey }: AllowedDecision,
  common: DecisionContext,
  { nowMs, approvalId }: AnswerOptions,
): AuthzenDecision {
  if (nowMs > notAfter) {
    const reason = approvalId === undefined ? "not_after_passed" : "approval_expired";
    const message =
      "The call was allowed, but not started in time. If it is still needed, make it again under a new call id.";
    return { decision: false, context: { ...common, reason, message, next_action: "none" } };
  }
  const not_after = timestampOf(notAfter);
  return {
    decision: true,
    context: {
      ...common,
      ...(idempotencyKey === undefined ? {} : { idempotency_key: idempotencyKey }),
      ...{ not_after, time_limit_ms: timeLimitMs },
      ...(approvalId === undefined
        ? {}
        : { approval: { id: approvalId, approved_until: not_after } }),
    },
  };
}

function answerRefused(
  { refusal }: RefusedDecision,
  common: DecisionContext,
  { approvalId }: AnswerOptions,
): AuthzenDecision {
  const { reason, message, userMessage, rule, previousCall } = refusal;
  return {
    decision: false,
    context: {
      ...common,
      ...{ reason, message, rule },
      ...(userMessage === null ? {} : { user_message: userMessage }),
      ...(previousCall === null ? {} : { previous_decision_id: previousCall.decisionId }),
      ...(approvalId === undefined ? {} : { next_action: "none" }),
    },
  };
}

function answerHeld(
  { refusal, expiresAt }: HeldDecision,
  common: DecisionContext,
  { endpoint }: AnswerOptions,
): AuthzenDecision {
  const { reason, message, rule } = refusal;
  return {
    decision: false,
    context: {
      ...common,
      ...{ reason, message, rule },
      access_request: { endpoint, template: rule, expires_at: timestampOf(expiresAt) },
    },
  };
}

/** RFC 3339, from ms since the epoch. */
export function timestampOf(timeMs: number): string {
  return new Date(timeMs).toISOString();
}
