/** Events of the journal as the feed and the timelines show them: without keys, sensitive values as digests. */
import type { JsonObject } from "../../core/canonical/json-value.ts";
import type { DecisionEvent, GateEvent, ResultRecorded, VerdictRuled } from "../../core/events.ts";
import type { CallError, FailureEffect, ResultStatus } from "../../core/inputs.ts";
import type { ReasonCode } from "../../core/reasons/reasons.ts";
import type { JournalRecord } from "../../runtime/journal.ts";
import { parseClaim } from "../executions/worker-claim.ts";

export const EVENT_TYPES = [
  "allowed",
  "refused",
  "held",
  "result",
  "reconciled",
  "verdict",
  "conversation_ended",
  "conversation_resumed",
] as const;

export type ShownEvent = ShownDecision | ShownResult | ShownReconciled | ShownVerdict | ShownOrder;

type Common = {
  /** Gate time in ms. */
  readonly at: number;
  readonly tenantId: string;
  readonly conversationId: string;
};

export type ShownDecision = Common & {
  readonly type: "allowed" | "refused" | "held";
  readonly decisionId: string;
  readonly callId: string;
  readonly tool: string;
  readonly agentId: string | null;
  readonly turn: string | null;
  readonly step: string | null;
  readonly isRead: boolean;
  /** Null: they could not be parsed. */
  readonly arguments: JsonObject | null;
  readonly policyRevision: string;
  readonly warnings: readonly { readonly reason: ReasonCode; readonly message: string }[];
  /** The approval that this decision ended; null: the call had not waited. */
  readonly endedApprovalId: string | null;
  readonly approvedBy: readonly string[];
  /** Of a refusal; a held call has `approval_required`. */
  readonly reason?: ReasonCode;
  readonly message?: string;
  readonly rule?: string;
  readonly duplicate?: boolean;
  /** Of a held call. */
  readonly approvalId?: string;
  readonly expiresAt?: number;
  readonly approvals?: number;
  /** Of an allowed call. */
  readonly notAfter?: number;
  readonly timeLimitMs?: number;
};

export type ShownResult = Common & {
  readonly type: "result";
  readonly decisionId: string;
  readonly callId: string;
  readonly tool: string;
  readonly status: ResultStatus;
  readonly effect: FailureEffect | null;
  readonly error: CallError | null;
  readonly durationMs: number | null;
  readonly outputBytes: number;
  readonly outputDigest: string | null;
  /** The worker that claimed the call over HTTP; null: no worker reported this. */
  readonly worker: string | null;
};

export type ShownReconciled = Common & {
  readonly type: "reconciled";
  readonly decisionId: string;
  readonly callId: string;
  readonly tool: string;
  readonly status: "succeeded" | "failed" | "not_executed";
  readonly by: string;
  readonly reason: string | null;
};

export type ShownVerdict = Common & {
  readonly type: "verdict";
  readonly kind: "approve" | "grant" | "revoke";
  readonly by: string;
  readonly reason: string | null;
  readonly approvalId: string | null;
  readonly decisionId: string | null;
  readonly tool: string | null;
  readonly tier: string | null;
};

export type ShownOrder = Common & {
  readonly type: "conversation_ended" | "conversation_resumed";
  /** Null: the policy ended it, because of refusals. */
  readonly by: string | null;
  readonly reason: string | null;
};

/** What the record says, in order; the same record always gives the same list. */
export function shownEvents(record: JournalRecord): readonly ShownEvent[] {
  return record.events.flatMap((event) => shown(event, record));
}

function shown(event: GateEvent, record: JournalRecord): readonly ShownEvent[] {
  switch (event.type) {
    case "allowed":
    case "held":
      return [shownDecision(event)];
    case "refused":
      return event.raised?.ended === "conversation"
        ? [shownDecision(event), endedByPolicy(event)]
        : [shownDecision(event)];
    case "result_recorded":
      return [shownResult(event, record)];
    case "outcome_unknown": {
      const { tenantId, conversationId, decisionId, callId, tool, atMs: at } = event;
      const names = { at, tenantId, conversationId, decisionId, callId, tool };
      const nothing = { effect: null, error: null, durationMs: null, outputDigest: null };
      return [
        { type: "result", ...names, status: "unknown", ...nothing, outputBytes: 0, worker: null },
      ];
    }
    case "reconciled": {
      const { tenantId, conversationId, decisionId, callId, tool, by, reason } = event;
      const names = { at: event.atMs, tenantId, conversationId, decisionId, callId, tool };
      return [{ type: "reconciled", ...names, status: event.outcome, by, reason }];
    }
    case "ruled":
      return [shownRuling(event)];
    case "repeated":
    case "claimed":
    case "ignored":
      return [];
  }
}

export function shownDecision(event: DecisionEvent): ShownDecision {
  const { callId, tool, agentId, turn, step } = event.call;
  const { text } = event.arguments;
  return {
    type: event.type,
    ...{ at: event.times.atMs, tenantId: event.tenantId, conversationId: event.conversationId },
    ...{ decisionId: event.decisionId, callId, tool, agentId, turn, step },
    isRead: event.policy.isRead,
    arguments: text === "" ? null : (JSON.parse(text) as JsonObject),
    policyRevision: event.policy.revision,
    warnings: event.notices.warnings.map(({ reason, message }) => ({ reason, message })),
    endedApprovalId: event.approval.approvalId,
    approvedBy: event.approval.approvedBy,
    ...outcomeMembers(event),
  };
}

function outcomeMembers(event: DecisionEvent): Partial<ShownDecision> {
  switch (event.type) {
    case "allowed":
      return { notAfter: event.notAfterMs, timeLimitMs: event.timeLimitMs };
    case "refused": {
      const { reason, message, rule, duplicate } = event.refusal;
      return { reason, message, rule, duplicate };
    }
    case "held": {
      const { holdId: approvalId, expiresAtMs: expiresAt, message, rule, approvals } = event;
      return { reason: "approval_required", message, rule, approvalId, expiresAt, approvals };
    }
  }
}

function shownResult(event: ResultRecorded, { input }: JournalRecord): ShownResult {
  const { tenantId, conversationId, decisionId, callId, tool, atMs: at } = event;
  const { status, effect, error, durationMs, outputBytes, outputDigest } = event;
  const executorId =
    input.type === "decided" && input.input.type === "result" ? input.input.executorId : undefined;
  return {
    type: "result",
    ...{ at, tenantId, conversationId, decisionId, callId, tool, status, effect, error },
    ...{ durationMs, outputBytes, outputDigest },
    worker: parseClaim(executorId)?.worker ?? null,
  };
}

function shownRuling(event: VerdictRuled): ShownVerdict | ShownOrder {
  const { tenantId, conversationId, atMs: at, by, reason } = event;
  const said = { at, tenantId, conversationId, by, reason };
  const { kind } = event;
  if (kind === "end") return { type: "conversation_ended", ...said };
  if (kind === "resume") return { type: "conversation_resumed", ...said };
  const { approvalId, decisionId, tool, tier } = event;
  return { type: "verdict", ...said, kind, approvalId, decisionId, tool, tier };
}

function endedByPolicy({ tenantId, conversationId, times }: DecisionEvent): ShownOrder {
  const said = { at: times.atMs, tenantId, conversationId };
  return { type: "conversation_ended", ...said, by: null, reason: null };
}
