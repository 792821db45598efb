/** What every decision says, whatever it is. */
import type { ReasonCode } from "./reasons/reasons.ts";

/**
 * What every decision says. Journal, outputs and state hold the one object that `decide` made, or parts of it by
 * reference: whoever adds a member adds it to the schema and to what computes it, and to nothing between.
 */
export interface Decision {
  readonly decisionId: string;
  readonly tenantId: string;
  readonly conversationId: string;
  readonly call: DecidedCall;
  readonly arguments: DecidedArguments;
  readonly policy: DecidedPolicy;
  readonly notices: Notices;
  readonly times: DecisionTimes;
  readonly conversation: ConversationChange;
  readonly approval: DecisionApproval;
}

/** The call as its agent named it. */
export interface DecidedCall {
  readonly callId: string;
  readonly agentId: string | null;
  readonly turn: string | null;
  readonly step: string | null;
  readonly tool: string;
}

export interface DecidedArguments {
  /** Canonical JSON, digests for sensitive values; empty where they did not parse. */
  readonly text: string;
  /** Digest of (tool, canonical arguments), or of the bytes where they do not parse. */
  readonly digest: string;
  /** Digest of (tool, identity): what makes two calls the same call. Empty where not computed. */
  readonly actionKey: string;
  /** Of an allowed or held call: the values that stand as digests in the text. */
  readonly sealed: readonly SealedValue[];
}

/** The value of a field declared sensitive, readable only with the secret. */
export interface SealedValue {
  /** Where in the arguments it belongs: a JSON pointer (RFC 6901). */
  readonly path: string;
  /** Id of the secret, which the digest in its place is made with as well. */
  readonly keyId: string;
  /** Hex: nonce of AES-256-GCM, and ciphertext with the tag. */
  readonly nonce: string;
  readonly sealed: string;
}

/** What the policy says of the tool. */
export interface DecidedPolicy {
  /** `sha256:…` */
  readonly revision: string;
  readonly tier: string | null;
  /** The rule that puts the tool in its tier; null: no tool has been looked up. */
  readonly tierRule: string | null;
  readonly isRead: boolean;
}

export interface Notices {
  /** Reasons in mode `warn` that fired: the call may run, the model is told. */
  readonly warnings: readonly Notice[];
  /** Reasons in mode `shadow` that fired: what would have been refused. */
  readonly shadow: readonly Notice[];
}

export interface Notice {
  readonly reason: ReasonCode;
  readonly message: string;
  readonly rule: string;
}

/** Gate times, ms. */
export interface DecisionTimes {
  readonly atMs: number;
  /** Time of proposals as this decision saw it: a verdict's own time never advances windows. */
  readonly proposalsAtMs: number;
}

/** What the decision changes of the conversation. */
export interface ConversationChange {
  /** The state starts afresh with this decision: the conversation is new, or had lapsed. */
  readonly fresh: boolean;
  /** When the conversation is forgotten, unless another call comes (gate time, ms). */
  readonly dropAtMs: number;
  /** False where the call did not get as far as to count as one of its turn. */
  readonly entersTurn: boolean;
  /** Id of the confirmation that this call spent. */
  readonly confirmation: string | null;
  /** What went from memory to make room, by kind. */
  readonly evicted: Evicted | null;
}

export interface Evicted {
  readonly reads: readonly string[];
  readonly names: readonly string[];
  /** Prior calls that are writes, and resources, whose window is over. */
  readonly writes: readonly string[];
  readonly resources: readonly string[];
}

/** The hold that the decision ends; null and nobody where it ends none. */
export interface DecisionApproval {
  readonly approvalId: string | null;
  /** Who approved or denied it. */
  readonly approvedBy: readonly string[];
}
