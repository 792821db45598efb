/** A call that waits for people, and what the next gate will make of their verdicts. */
import type { CallHeld, IgnoredWhy } from "../../core/events.ts";
import type { VerdictInput } from "../../core/inputs.ts";
import { hasSpoken, isSameSpeaker } from "../../core/speaker.ts";
import { isBlank } from "../../core/state/manual-grants.ts";

/** The verdicts that end a hold, or help to end it. */
export type HoldVerdict = "approve" | "deny" | "cancel";

/** A held call, and the partition to which its answer must go. */
export interface Hold {
  readonly held: CallHeld;
  readonly partition: number;
  /** The people who have approved it, if several must. */
  readonly approvedBy: readonly string[];
  /**
   * Valid verdicts that no gate has processed yet, the earliest first; none follows a terminal one.
   */
  readonly waiting: readonly WaitingVerdict[];
  /** The conversation has ended: the gate refuses the call even if it is approved. */
  readonly isOfEnded: boolean;
}

type WaitingVerdict = { readonly kind: HoldVerdict; readonly by: string };

/** Whether a waiting verdict ends the hold, whatever is said after it. */
export function isDecided({ held, approvedBy, waiting }: Hold): boolean {
  const approvals = waiting.filter(({ kind }) => kind === "approve").length;
  return approvals < waiting.length || approvedBy.length + approvals >= held.approvals;
}

/** Why the verdict, after those that wait, would change nothing; null: it counts. */
export function whyIgnored(hold: Hold, verdict: VerdictInput): IgnoredWhy | null {
  const { held } = hold;
  if (verdict.tenantId !== held.tenantId) return "unknown_approval";
  if (verdict.conversationId !== held.conversationId) return "unknown_approval";
  const { callId, actionKey, ruleDigest } = verdict.about ?? NOTHING;
  if (callId !== null && callId !== held.call.callId) return "wrong_call";
  if (actionKey !== null && actionKey !== held.arguments.actionKey) return "wrong_action";
  if (ruleDigest !== null && ruleDigest !== held.ruleDigest) return "wrong_rule";
  return verdict.kind === "approve" ? wrongApproval(hold, verdict) : null;
}

const NOTHING = { callId: null, actionKey: null, ruleDigest: null };

function wrongApproval({ held, approvedBy, waiting }: Hold, verdict: VerdictInput) {
  const { by, tool, reason } = verdict;
  if (held.requireReason && isBlank(reason)) return "reason_required";
  if (held.call.agentId !== null && isSameSpeaker(held.call.agentId, by)) return "self_approval";
  const said = [...approvedBy, ...waiting.map((one) => one.by)];
  if (hasSpoken(said, by)) return "already_decided";
  if (tool === null) return null;
  if (tool !== held.call.tool) return "unknown_grant";
  return held.approvals > 1 ? "approvals_required" : null;
}
