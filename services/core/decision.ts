/** The members that every decision has, allowed, refused or held. */
import type { ReasonCode } from "./reasons/reasons.ts";

/**
 * What every decision says. Journal, outputs and state hold the one object that `decide` made, or
 * parts of it by reference. A new member therefore goes into the schema and into the code that
 * computes it, and nowhere between.
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
  /** Canonical JSON with digests for sensitive values; empty where the arguments did not parse. */
  readonly text: string;
  /** Digest of (tool, canonical arguments), or of the bytes where they do not parse. */
  readonly digest: string;
  /** Digest of (tool, identity): what makes two calls the same call. Empty where not computed. */
  readonly actionKey: string;
  /** Of an allowed or held call: the sensitive values that are digests in the text. */
  readonly sealed: readonly SealedValue[];
}

/** The value of a field declared sensitive, readable only with the secret. */
export interface SealedValue {
  /** Where the value belongs in the arguments: a JSON pointer (RFC 6901). */
  readonly path: string;
  /** Id of the secret that sealed the value and made the digest in its place. */
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
  /** The rule that puts the tool in its tier; null: no tool was looked up. */
  readonly tierRule: string | null;
  readonly isRead: boolean;
}

export interface Notices {
  /** Reasons in mode `warn` that fired: the call may run, and the model is told. */
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
  /**
   * Time of proposals when this decision was made: the time of a verdict never advances windows.
   */
  readonly proposalsAtMs: number;
}

/** What the decision changes of the conversation. */
export interface ConversationChange {
  /** The state starts afresh with this decision: the conversation is new or had lapsed. */
  readonly fresh: boolean;
  /** When the conversation lapses, unless another call comes (gate time, ms). */
  readonly dropAtMs: number;
  /** False where the call was refused too early to count as one of its turn. */
  readonly entersTurn: boolean;
  /** Id of the confirmation that this call used up. */
  readonly confirmation: string | null;
  /** What was dropped from memory to make room, by kind. */
  readonly evicted: Evicted | null;
}

export interface Evicted {
  readonly reads: readonly string[];
  readonly names: readonly string[];
  /** Prior writes and resources whose window is over. */
  readonly writes: readonly string[];
  readonly resources: readonly string[];
}

/**
 * The hold that the decision ends; its id is null and its approvers are none where it ends no hold.
 */
export interface DecisionApproval {
  readonly approvalId: string | null;
  /** Who approved or denied it. */
  readonly approvedBy: readonly string[];
}
