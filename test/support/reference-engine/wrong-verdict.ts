// Verdicts that change nothing, and why.
import type { VerdictInput } from "../../../services/core/inputs.ts";
import type { CompiledTier } from "../../../services/core/policy/compiled.ts";
import { termsOf } from "./checks.ts";
import { type Call, isOne } from "./history.ts";

/**
 * The first member of the verdict's subject that does not match the call; verdicts of random
 * histories name all of them.
 */
export function otherThan(call: Call, { about }: VerdictInput): string | null {
  if (about === undefined) return null;
  const { callId, actionKey, ruleDigest } = about;
  if (callId !== call.input.callId) return "wrong_call";
  if (actionKey !== call.actionKey) return "wrong_action";
  return ruleDigest === call.tool.ruleDigest ? null : "wrong_rule";
}

/** Why an approval does not count. */
export function wrongApproval(
  { input: asked, tool }: Call,
  { requireReason, approvals, approvedBy }: NonNullable<Call["hold"]>,
  { reason, by, tool: further }: VerdictInput,
) {
  if (requireReason && reason === null) return "reason_required";
  if (asked.agentId !== null && isOne(by, asked.agentId)) return "self_approval";
  if (approvedBy.some((name) => isOne(name, by))) return "already_decided";
  if (further === null) return null;
  if (further !== tool.name) return "unknown_grant";
  return approvals > 1 ? "approvals_required" : null;
}

export type WrongGrant = "unknown_grant" | "approvals_required" | "reason_required";

/** Why a grant of calls of a tier changes nothing. */
export function wrongGrant(
  tier: CompiledTier,
  { reason, calls, untilMs }: VerdictInput,
  nowMs: number,
): WrongGrant | null {
  const terms = termsOf(tier);
  if (terms !== null && terms.approvals > 1) return "approvals_required";
  if (terms?.requireReason && reason === null) return "reason_required";
  return calls === 0 || (untilMs !== null && untilMs <= nowMs) ? "unknown_grant" : null;
}
