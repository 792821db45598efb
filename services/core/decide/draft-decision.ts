/** A decision in the making: the gate fills one for each call that it decides. */
import type {
  DecidedPolicy,
  Decision,
  DecisionApproval,
  Notices,
  SealedValue,
} from "../decision.ts";
import type { ProposalInput } from "../inputs.ts";
import type { CompiledPolicy, CompiledTool } from "../policy/compiled.ts";
import type { ConversationState } from "../state/state.ts";
import type { IdentifiedCall } from "./name-call.ts";

export type Proposed = Omit<ProposalInput, "type" | "arguments" | "rejected" | "approvalId">;

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** Nothing else refers to the draft or its parts yet, so they are filled in place. */
export type DecisionDraft = Mutable<
  Omit<Decision, "arguments" | "conversation"> & {
    readonly arguments: Mutable<Decision["arguments"]>;
    readonly conversation: Mutable<Decision["conversation"]>;
  }
>;

export const NO_NOTICES: Notices = { warnings: [], shadow: [] };
export const NO_APPROVAL: DecisionApproval = { approvalId: null, approvedBy: [] };
const NONE_SEALED: readonly SealedValue[] = [];

/**
 * `times.at`: the time of the input. `times.proposals`: the time of the latest proposal, which
 * windows are compared with.
 */
export function draftDecision(
  state: ConversationState | undefined,
  proposal: Proposed,
  identifiedCall: Pick<IdentifiedCall, "text" | "argumentsDigest" | "decisionId">,
  policy: CompiledPolicy,
  times: { readonly at: number; readonly proposals: number },
): DecisionDraft {
  const { callId, agentId, turn, step, tool } = proposal;
  const { maxAgeMs, idleMs } = policy.conversation;
  const startedAtMs = state?.startedAtMs ?? times.proposals;
  return {
    decisionId: identifiedCall.decisionId,
    // The state's own strings, so that each call does not retain those of its proposal.
    tenantId: state?.tenantId ?? proposal.tenantId,
    conversationId: state?.conversationId ?? proposal.conversationId,
    call: { callId, agentId, turn, step, tool },
    arguments: {
      text: identifiedCall.text,
      digest: identifiedCall.argumentsDigest,
      actionKey: "",
      sealed: NONE_SEALED,
    },
    policy: decidedPolicy(policy, null),
    notices: NO_NOTICES,
    times: { atMs: times.at, proposalsAtMs: times.proposals },
    conversation: {
      fresh: state === undefined,
      dropAtMs: Math.min(startedAtMs + maxAgeMs, times.proposals + idleMs),
      entersTurn: false,
      confirmation: null,
      evicted: null,
    },
    approval: NO_APPROVAL,
  };
}

/** What the policy says of the tool; null: no tool was looked up. */
export function decidedPolicy(
  { revision }: CompiledPolicy,
  tool: CompiledTool | null,
): DecidedPolicy {
  const tier = tool?.tier;
  return {
    revision,
    tier: tier?.name ?? null,
    tierRule: tier?.rule ?? null,
    isRead: tool?.isRead ?? false,
  };
}

/** The hold that a verdict ends. `stands`: the approved rule is still the rule of the call. */
export interface Approval {
  readonly approvalId: string;
  readonly by: readonly string[];
  readonly stands: boolean;
}
