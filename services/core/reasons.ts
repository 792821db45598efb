/**
 * The closed, versioned list of reason codes. `schemas/reasons.json` is the same list with its
 * sentences for people; a test keeps the two equal. Nothing else ever appears as a reason.
 */
export const REASON_CODES = [
  "malformed",
  "too_large",
  "misrouted",
  "unauthenticated",
  "call_id_conflict",
  "unknown_tool",
  "killed",
  "invalid_arguments",
  "conversation_ended",
  "user_input_required",
  "acknowledgement_required",
  "budget_steps",
  "budget_calls",
  "budget_seconds",
  "budget_spend",
  "duplicate_call",
  "duplicate_in_flight",
  "outcome_unknown",
  "retry_exhausted",
  "retry_too_soon",
  "history_full",
  "near_duplicate",
  "side_effect_conflict",
  "loop_repeat",
  "loop_cycle",
  "loop_no_progress",
  "loop_rotation",
  "failure_streak",
  "failure_run",
  "tool_frequency",
  "tier_denied",
  "rate_limited",
  "grant_exceeded",
  "approval_required",
  "approval_denied",
  "approval_expired",
  "internal_error",
  "gate_unavailable",
] as const;

export type ReasonCode = (typeof REASON_CODES)[number];

/** How a reason is applied: refuse, allow with a note to the model, record only, do not look. */
export type Mode = "enforce" | "warn" | "shadow" | "off";

/** Enforced whatever a policy says; a policy that names one in `checks` is refused. */
export const ALWAYS_ENFORCED: ReadonlySet<ReasonCode> = new Set([
  "malformed",
  "too_large",
  "misrouted",
  "unauthenticated",
  "call_id_conflict",
  "killed",
  "internal_error",
  "gate_unavailable",
  "approval_denied",
  "approval_expired",
]);

/** Refusals for repetition: each is a strike on the ladder (docs/engine.md, the ladder). */
export const STRIKING: ReadonlySet<ReasonCode> = new Set([
  "duplicate_call",
  "outcome_unknown",
  "retry_exhausted",
  "near_duplicate",
  "side_effect_conflict",
  "loop_repeat",
  "loop_cycle",
  "loop_no_progress",
  "loop_rotation",
  "failure_streak",
  "failure_run",
]);

export function isReasonCode(text: string): text is ReasonCode {
  return (REASON_CODES as readonly string[]).includes(text);
}
