/** What the gate consumes, decoded. One input gives one journal record, whatever comes of it. */
import type { JsonObject } from "./canonical/json-value.ts";
import type { SensitivePath, SensitiveValue } from "./seal/sensitive-values.ts";

export type GateInput = ProposalInput | ResultInput | VerdictInput | TickInput;

/**
 * One tool call that an agent wants to make. Ids have the form of `id-text.ts`. The gate never takes
 * a time from a proposal.
 */
export interface ProposalInput {
  readonly type: "proposal";
  readonly tenantId: string;
  readonly conversationId: string;
  /** The model's id of the call, unique within (conversation, turn, step). */
  readonly callId: string;
  readonly agentId: string | null;
  /** One user message and what follows; null where the platform does not say. */
  readonly turn: string | null;
  /** One model message: its calls were issued together. */
  readonly step: string | null;
  readonly tool: string;
  /** JSON text as it arrived. Nothing reads it before the strict parser of `canonical/` does. */
  readonly arguments: string | Uint8Array;
  /** What the model said with the call; not journaled where arguments of the call are sensitive. */
  readonly assistantText: string | null;
  readonly estimatedCost: Money | null;
  /** Id of a user's confirmation that the platform vouches for. */
  readonly confirmation: string | null;
  /**
   * Id of a hold that the agent asks for again: a call that was approved under it runs, if this is
   * the same call. Absent: the hold is found by call id alone.
   */
  readonly approvalId?: string;
  /**
   * Set by the caller of the core where the envelope itself is not acceptable: the call is refused
   * for this reason.
   */
  readonly rejected: EnvelopeRejection | null;
  /**
   * What the platform's token vouched for, where proposals must be signed; absent where they are
   * trusted.
   */
  readonly vouched?: Vouched;
  /**
   * Set by `sealProposal` alone, where the tool has sensitive fields: `arguments` then has digests
   * in place of the values; null: the arguments cannot be parsed, and are one digest. In memory
   * only.
   */
  readonly clear?: ClearArguments | null;
}

/** A call's arguments as they were sent, and what of them is sensitive. */
export interface ClearArguments {
  /** Id of the secret that digests of this conversation are made with. */
  readonly keyId: string;
  readonly value: JsonObject;
  /** Canonical JSON of the value. */
  readonly text: string;
  readonly paths: readonly SensitivePath[];
  readonly sensitiveValues: readonly SensitiveValue[];
  /** Digests that a recorded journal has in place of values. */
  readonly digests: readonly SensitiveValue[];
  /**
   * Problems that the recorded decision has for those digests: nobody can look at the values again.
   */
  readonly recordedProblems?: readonly { readonly path: string; readonly message: string }[];
}

export interface EnvelopeRejection {
  readonly reason: "malformed" | "too_large" | "misrouted" | "unauthenticated" | "overloaded";
  readonly message: string;
}

/** Facts of a verified token. With them a journal can be decided again without any key. */
export interface Vouched {
  /** `jti` of the token. */
  readonly tokenId: string;
  /** `kid` of the key that verified it. */
  readonly keyId: string;
  readonly expiresAtMs: number;
  /** The one call that the proposal's confirmation confirms; null: there is no confirmation. */
  readonly confirms: ConfirmedCall | null;
}

/** At least one of call id and digest is present; what is present must match the call. */
export interface ConfirmedCall {
  readonly tool: string;
  readonly callId: string | null;
  /** `argumentsDigest` of the decision that asked for the confirmation. */
  readonly argumentsDigest: string | null;
}

/** Micro-units (1,000,000 = one unit of the currency) and an ISO 4217 code. */
export interface Money {
  readonly microUnits: number;
  readonly currency: string;
}

export const RESULT_STATUSES = [
  "started",
  "succeeded",
  "failed",
  "not_executed",
  "unknown",
] as const;
export type ResultStatus = (typeof RESULT_STATUSES)[number];

/**
 * Effect of a call that failed. `none`: it certainly did not take effect; `possible`: it may have.
 */
export const FAILURE_EFFECTS = ["none", "possible"] as const;
export type FailureEffect = (typeof FAILURE_EFFECTS)[number];

/**
 * How the writer of a result knows its status. `reported`: somebody reported it, and nothing
 * overrides that. `returned`: a handler returned a value, so that only patterns that an author
 * wrote for the tool may say that it failed. `text`: there is only the text of an output
 * (recordings, hooks).
 */
export const STATUS_BASES = ["reported", "returned", "text"] as const;
export type StatusBasis = (typeof STATUS_BASES)[number];

/** What an executor reports of an allowed call. */
export interface ResultInput {
  readonly type: "result";
  readonly tenantId: string;
  readonly conversationId: string;
  readonly callId: string;
  readonly decisionId: string;
  readonly status: ResultStatus;
  /** Of a failed call; absent or null: `possible` for a write, `none` for a read. */
  readonly effect?: FailureEffect | null;
  /** Absent: `reported`. */
  readonly basis?: StatusBasis;
  /** The output as text (JSON where the tool gives JSON), bounded; null: none was reported. */
  readonly output: string | null;
  /** Digest of the whole output, also of what was cut; null: the gate digests `output`. */
  readonly outputDigest: string | null;
  /** Length of the whole output in bytes; larger than `output` where that was cut. */
  readonly outputBytes: number | null;
  readonly error: CallError | null;
  readonly durationMs: number | null;
  readonly cost: Money | null;
  /**
   * The executor that runs calls, or one claim of a guard; absent: not reported. The gate does not
   * use it.
   */
  readonly executorId?: string;
}

export interface CallError {
  readonly code: string | null;
  readonly message: string;
  readonly retryable: boolean | null;
}

export const VERDICT_KINDS = [
  "approve",
  "deny",
  "grant",
  "revoke",
  "reconcile",
  "resume",
  "end",
  "cancel",
  "tick",
] as const;
export type VerdictKind = (typeof VERDICT_KINDS)[number];

/** The most calls that one verdict can grant, where it grants a number of them. */
export const MANUAL_GRANT_CALLS_MAX = 2 ** 31 - 1;

/**
 * A verdict: the answer or order of a person or operator. A verdict of kind `tick` is a
 * `TickInput`.
 */
export interface VerdictInput {
  readonly type: "verdict";
  readonly kind: Exclude<VerdictKind, "tick">;
  readonly tenantId: string;
  readonly conversationId: string;
  /** approve, deny, cancel: the hold it answers. */
  readonly approvalId: string | null;
  /** reconcile: the call whose outcome is settled. */
  readonly decisionId: string | null;
  /** reconcile: what became of it. */
  readonly outcome: "succeeded" | "failed" | "not_executed" | null;
  /** grant, revoke: the tier or the tool; how many calls; until when (gate time, ms). */
  readonly tier: string | null;
  readonly tool: string | null;
  readonly calls: number | null;
  readonly untilMs: number | null;
  readonly by: string;
  readonly reason: string | null;
  /**
   * approve, deny, cancel: the held call as the approver saw it. If the hold is of another call,
   * the verdict changes nothing.
   */
  readonly about?: VerdictSubject;
}

/** Facts of a hold that a verdict can repeat; null: not stated. */
export interface VerdictSubject {
  readonly callId: string | null;
  readonly actionKey: string | null;
  /** Digest of the tool's schema and of the rule of its tier. */
  readonly ruleDigest: string | null;
}

/** Time has passed: every deadline up to the input's append time is due, in all conversations. */
export interface TickInput {
  readonly type: "tick";
}
