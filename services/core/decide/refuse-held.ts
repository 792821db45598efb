/** A held call that will not run: denied, expired or cancelled. */
import type { Denial } from "../approval-facts.ts";
import type { CallHeld, CallRefused } from "../events.ts";
import type { CompiledPolicy } from "../policy/compiled.ts";
import type { ConversationState } from "../state/state.ts";
import { decisionBase } from "./decision-base.ts";
import { makeRoomForName } from "./make-room.ts";
import { refusePlainly } from "./refuse-unread.ts";

export function refuseHeld(
  state: ConversationState,
  held: CallHeld,
  policy: CompiledPolicy,
  nowMs: number,
  why: {
    readonly reason: "approval_denied" | "approval_expired";
    readonly by: readonly string[];
    readonly detail: string | null;
    /** Of a person's no. */
    readonly denial: Denial | null;
  },
): CallRefused {
  const base = heldBase(state, held, policy, nowMs);
  const refused = refusePlainly(
    {
      ...base,
      approvalId: held.holdId,
      approvedBy: why.by,
      evicted: makeRoomForName(state, base.proposalsAtMs),
    },
    {
      reason: why.reason,
      rule: held.rule,
      disposition: why.reason === "approval_denied" ? "change_approach" : "ask_user",
      detail: why.detail,
    },
  );
  const resolution = { type: "none", retryAfterMs: null, approvalId: held.holdId } as const;
  return { ...refused, denial: why.denial, refusal: { ...refused.refusal, resolution } };
}

/** The decision that ends a hold: the same call, a later time. */
export function heldBase(
  state: ConversationState,
  held: CallHeld,
  policy: CompiledPolicy,
  nowMs: number,
) {
  const named = {
    text: held.arguments,
    argumentsDigest: held.argumentsDigest,
    decisionId: held.decisionId,
  };
  const proposal = { ...held, assistantText: null, estimatedCost: null, confirmation: null };
  const base = decisionBase(state, proposal, named, policy, {
    at: nowMs,
    proposals: state.lastAtMs,
  });
  return { ...base, actionKey: held.actionKey, isRead: held.isRead, tier: held.tier };
}
