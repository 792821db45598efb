/** The records that executors, agents, approvers and operators read. */
import type { Decision, Notice } from "../core/decision.ts";
import type { CallAllowed, CallFacts, CallHeld, CallRefused } from "../core/events.ts";
import type { ReasonCode } from "../core/reasons/reasons.ts";

/** HTTP header of the idempotency key. */
export const IDEMPOTENCY_HEADER = "X-Agent-Idempotency-Key";

/** The fields that records of all decisions have. Times are gate time in ms. */
type DecidedRecord = Pick<
  Decision,
  "decisionId" | "tenantId" | "conversationId" | "call" | "policy"
> & {
  readonly atMs: number;
  readonly warnings: readonly Notice[];
  /** Offset of the input that was decided. */
  readonly inputOffset: number;
};

/** A call that may run. */
export type AllowedCall = DecidedRecord &
  Pick<
    CallAllowed,
    | "arguments"
    | "approval"
    | "keyId"
    | "idempotencyArgument"
    | "execution"
    | "notAfterMs"
    | "timeLimitMs"
  > & {
    readonly confirmation: string | null;
    /** The same for every retry of one execution. */
    readonly idempotencyKey: string;
    readonly header: string;
  };

/** A call that may not run. */
export type RefusedCall = DecidedRecord &
  Pick<CallRefused, "refusal"> & {
    /** The first characters of the canonical form. */
    readonly arguments: string;
    /** The hold that was denied or expired. */
    readonly approvalId: string | null;
  };

/** A call that waits for a person. */
export type HeldCall = DecidedRecord &
  Pick<
    CallHeld,
    | "arguments"
    | "expiresAtMs"
    | "requireReason"
    | "approvals"
    | "holdNumber"
    | "ruleDigest"
    | "message"
    | "rule"
  > &
  Pick<CallFacts, "resources" | "exclusive"> & {
    readonly approvalId: string;
  };

export const ALERT_KINDS = [
  "loop",
  "refusals",
  "held_too_long",
  "outcome_unknown",
  "budget",
  "dead_letters",
  "latency",
  "calls_spike",
  "spend_spike",
  "duration_spike",
  "overloaded",
] as const;

export type AlertKind = (typeof ALERT_KINDS)[number];

export const ALERT_SEVERITIES = ["info", "warning", "critical"] as const;

export type AlertSeverity = (typeof ALERT_SEVERITIES)[number];

/** A finding in the decisions that an operator should look at. */
export type Alert = {
  /** The same id as long as one cause lasts. */
  readonly alertId: string;
  readonly kind: AlertKind;
  readonly severity: AlertSeverity;
  readonly tenantId: string;
  readonly conversationId: string;
  readonly atMs: number;
  /** Null as long as the cause lasts. */
  readonly resolvedAtMs: number | null;
  readonly agentId: string | null;
  readonly tool: string | null;
  readonly reason: ReasonCode | null;
  readonly decisionId: string | null;
  readonly message: string;
  readonly value: number | null;
  readonly threshold: number | null;
  readonly windowMs: number | null;
  readonly count: number;
};
