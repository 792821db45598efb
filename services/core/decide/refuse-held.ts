/** Refuses a held call: one that was denied, cancelled or has expired. */
import type { CallHeld, CallRefused, Denial } from "../events.ts";
import type { CompiledPolicy } from "../policy/compiled.ts";
import type { ConversationState } from "../state/state.ts";
import { type DecisionDraft, draftDecision, type Proposed } from "./draft-decision.ts";
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
    /** The person's denial; null: nobody denied the call. */
    readonly denial: Denial | null;
  },
): CallRefused {
  const draft = draftOfHeld(state, held, policy, nowMs);
  draft.approval = { approvalId: held.holdId, approvedBy: why.by };
  draft.conversation.evicted = makeRoomForName(state, draft.times.proposalsAtMs);
  const refused = refusePlainly(draft, {
    reason: why.reason,
    rule: held.rule,
    disposition: why.reason === "approval_denied" ? "change_approach" : "ask_user",
    detail: why.detail,
  });
  const resolution = { type: "none", retryAfterMs: null, approvalId: held.holdId } as const;
  return { ...refused, denial: why.denial, refusal: { ...refused.refusal, resolution } };
}

/** Starts the decision that ends a hold: the same call at a later time. */
export function draftOfHeld(
  state: ConversationState,
  held: CallHeld,
  policy: CompiledPolicy,
  nowMs: number,
): DecisionDraft {
  const { decisionId } = held;
  const identifiedCall = {
    text: held.arguments.text,
    argumentsDigest: held.arguments.digest,
    decisionId,
  };
  const draft = draftDecision(state, proposalOfHeld(held), identifiedCall, policy, {
    at: nowMs,
    proposals: state.lastAtMs,
  });
  draft.arguments.actionKey = held.arguments.actionKey;
  draft.policy = { ...held.policy, revision: policy.revision };
  return draft;
}

/** The members of the proposal that the decision still has. */
export function proposalOfHeld({ tenantId, conversationId, call, facts }: CallHeld): Proposed {
  const estimatedCost = facts.more?.cost ?? null;
  const rest = { assistantText: null, estimatedCost, confirmation: null };
  return { tenantId, conversationId, ...call, ...rest };
}
