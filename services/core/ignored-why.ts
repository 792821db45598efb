/** Why a result or a verdict changes nothing. */
export type IgnoredWhy =
  | "unknown_call"
  | "unknown_approval"
  | "already_decided"
  | "already_reported"
  | "reason_required"
  | "approvals_required"
  | "self_approval"
  | "not_unknown"
  | "wrong_call"
  | "wrong_action"
  | "wrong_rule"
  | "unknown_conversation"
  | "unknown_grant"
  | "not_supported";
