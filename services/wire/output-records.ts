/** What executors, agents, approvers and operators read. */
import type { ExclusiveEffect, Notice, Occurrence, Refusal } from "../core/events.ts";
import type { ReasonCode } from "../core/reasons/reasons.ts";

/** HTTP header that carries the idempotency key. */
export const IDEMPOTENCY_HEADER = "X-Agent-Idempotency-Key";

type CallName = {
  readonly tenantId: string;
  readonly conversationId: string;
  readonly callId: string;
  readonly agentId: string | null;
  readonly turn: string | null;
  readonly step: string | null;
  readonly tool: string;
};

/** A call that may run. Times are gate time in ms. */
export type AllowedCall = CallName & {
  readonly decisionId: string;
  /** Canonical JSON. */
  readonly arguments: string;
  readonly argumentsDigest: string;
  readonly actionKey: string;
  readonly atMs: number;
  readonly policy: string;
  readonly tier: string | null;
  readonly isRead: boolean;
  readonly warnings: readonly Notice[];
  readonly confirmation: string | null;
  readonly approvalId: string | null;
  readonly approvedBy: readonly string[];
  /** The same for every retry of one occurrence. */
  readonly idempotencyKey: string;
  readonly keyId: string;
  readonly header: string;
  readonly idempotencyArgument: string | null;
  readonly occurrence: Occurrence;
  readonly notAfterMs: number;
  readonly timeLimitMs: number;
  /** Offset of the input that was decided. */
  readonly inputOffset: number;
};

/** A call that may not run. */
export type RefusedCall = Omit<CallName, "callId" | "tool"> & {
  readonly refusal: Refusal;
  readonly atMs: number;
  readonly warnings: readonly Notice[];
  /** The hold that was denied or ran out. */
  readonly approvalId: string | null;
  readonly inputOffset: number;
};

/** A call that waits for a person. */
export type HeldCall = CallName & {
  readonly decisionId: string;
  readonly approvalId: string;
  readonly arguments: string;
  readonly argumentsDigest: string;
  readonly actionKey: string;
  readonly atMs: number;
  readonly expiresAtMs: number;
  readonly requireReason: boolean;
  readonly approvals: number;
  readonly holdNumber: number;
  readonly ruleDigest: string;
  readonly message: string;
  readonly rule: string;
  readonly policy: string;
  readonly tier: string | null;
  readonly isRead: boolean;
  readonly resources: readonly string[] | null;
  readonly exclusive: readonly ExclusiveEffect[];
  readonly warnings: readonly Notice[];
  readonly inputOffset: number;
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
] as const;

export type AlertKind = (typeof ALERT_KINDS)[number];

export const ALERT_SEVERITIES = ["info", "warning", "critical"] as const;

export type AlertSeverity = (typeof ALERT_SEVERITIES)[number];

/** Something in the decision stream that an operator should look at. */
export type Alert = {
  /** The same while one cause lasts. */
  readonly alertId: string;
  readonly kind: AlertKind;
  readonly severity: AlertSeverity;
  readonly tenantId: string;
  readonly conversationId: string;
  readonly atMs: number;
  /** Null while the cause lasts. */
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
