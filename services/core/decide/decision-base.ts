/** The fields that every decision has. */
import type { DecisionBase, Notice } from "../events.ts";
import type { ProposalInput } from "../inputs.ts";
import type { CompiledPolicy } from "../policy/compiled.ts";
import type { ConversationState } from "../state/state.ts";
import type { NamedCall } from "./name-call.ts";

export type Proposed = Omit<ProposalInput, "type" | "arguments" | "rejected" | "approvalId">;

/** A decision in the making; nobody else holds it yet, so it is filled in place. */
export type Draft = { -readonly [K in keyof DecisionBase]: DecisionBase[K] };

const NO_NOTICES: readonly Notice[] = [];

/** `times.at`: of the input. `times.proposals`: of the latest proposal, which windows compare. */
export function decisionBase(
  state: ConversationState | undefined,
  proposal: Proposed,
  named: Pick<NamedCall, "text" | "argumentsDigest" | "decisionId">,
  policy: CompiledPolicy,
  times: { readonly at: number; readonly proposals: number },
): Draft {
  const startedAtMs = state?.startedAtMs ?? times.proposals;
  return {
    decisionId: named.decisionId,
    // The same texts as the state's: those of each proposal would be kept with its call.
    tenantId: state?.tenantId ?? proposal.tenantId,
    conversationId: state?.conversationId ?? proposal.conversationId,
    callId: proposal.callId,
    agentId: proposal.agentId,
    turn: proposal.turn,
    step: proposal.step,
    tool: proposal.tool,
    arguments: named.text,
    argumentsDigest: named.argumentsDigest,
    actionKey: "",
    atMs: times.at,
    proposalsAtMs: times.proposals,
    policy: policy.revision,
    tier: null,
    isRead: false,
    warnings: NO_NOTICES,
    shadow: NO_NOTICES,
    fresh: state === undefined,
    stateDropAtMs: Math.min(
      startedAtMs + policy.conversation.maxAgeMs,
      times.proposals + policy.conversation.idleMs,
    ),
    entersTurn: false,
    confirmation: null,
    approvalId: null,
    approvedBy: [],
    evicted: null,
  };
}
