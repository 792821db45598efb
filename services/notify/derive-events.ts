/**
 * From the journal and the alerts to what people hear of. Pure, and each event is derived from one
 * record alone, so that reading may begin anywhere. An id is made of what happened, never of its
 * position: a log that was restored from a backup uses positions again.
 */
import type { JsonObject } from "../core/canonical/json-value.ts";
import type {
  CallAllowed,
  CallHeld,
  CallRefused,
  DecisionEvent,
  GateEvent,
} from "../core/events.ts";
import { jsonDigest } from "../core/hash.ts";
import { shownArguments } from "../core/shown-arguments.ts";
import type { Alert } from "../wire/output-records.ts";
import type {
  AlertEvent,
  CallData,
  CallEvent,
  ConversationEvent,
  NotifyEvent,
} from "./notify-event.ts";

/** Longer arguments are cut: receivers bound the size of a request, Slack's at about this. */
const ARGUMENTS_CHARACTERS_MAX = 16_384;
const ID_DIGITS = 32;

/** What the events of one journal record say. */
export function deriveEvents(events: readonly GateEvent[]): readonly NotifyEvent[] {
  return events.flatMap(eventsOf);
}

function eventsOf(event: GateEvent): readonly NotifyEvent[] {
  switch (event.type) {
    case "held":
      return [heldCall(event)];
    case "allowed":
      return approvedCall(event);
    case "refused":
      return [...refusedHold(event), ...endByEscalation(event)];
    case "ruled":
      return event.kind === "end" ? [endByPerson(event)] : [];
    case "repeated":
    case "result_recorded":
    case "outcome_unknown":
    case "reconciled":
    case "claimed":
    case "ignored":
      return [];
  }
}

function heldCall(event: CallHeld): CallEvent {
  const { holdId, expiresAtMs, message, rule, requireReason, approvals, scope } = event;
  return {
    ...{ word: "held", id: `held-${holdId}`, atMs: event.times.atMs },
    data: {
      ...callOf(event, holdId),
      ...{ expiresAt: expiresAtMs, message, rule, requireReason, approvals },
      ...{ further: scope, replaces: event.approval.approvalId },
    },
  };
}

function approvedCall(event: CallAllowed): readonly CallEvent[] {
  return ended(event, "approved", { reason: null, refusal: null });
}

/** Nothing where the call was refused without having been held. */
function refusedHold(event: CallRefused): readonly CallEvent[] {
  const { reason, message, rule } = event.refusal;
  const refusal = { reason, message, rule };
  return ended(event, wordOf(event), { reason: event.denial?.reason ?? null, refusal });
}

function wordOf({ denial, refusal }: CallRefused): "denied" | "cancelled" | "expired" | "refused" {
  if (refusal.reason === "approval_expired") return "expired";
  // The checks run once more after an approval, and may refuse the call.
  if (refusal.reason !== "approval_denied") return "refused";
  return denial === null ? "cancelled" : "denied";
}

function ended(
  event: DecisionEvent,
  word: Exclude<CallEvent["word"], "held">,
  rest: Pick<Extract<CallEvent["data"], { reason: unknown }>, "reason" | "refusal">,
): readonly CallEvent[] {
  const { approvalId, approvedBy } = event.approval;
  if (approvalId === null) return [];
  const id = `${word}-${approvalId}`;
  const data = { ...callOf(event, approvalId), by: approvedBy, ...rest };
  return [{ word, id, atMs: event.times.atMs, data }];
}

function callOf(event: DecisionEvent, approvalId: string): CallData {
  const { decisionId, tenantId, conversationId, times } = event;
  const { agentId, callId, tool } = event.call;
  const { text } = event.arguments;
  // Empty where a proposal could not be parsed, which is never held.
  const isWhole = text !== "" && text.length <= ARGUMENTS_CHARACTERS_MAX;
  return {
    ...{ approvalId, decisionId, tenantId, conversationId, agentId, callId, tool },
    arguments: isWhole ? (JSON.parse(text) as JsonObject) : null,
    argumentsBeginning: isWhole ? null : shownArguments(event),
    at: times.atMs,
  };
}

function endByPerson(event: Extract<GateEvent, { type: "ruled" }>): ConversationEvent {
  const { tenantId, conversationId, atMs, by, reason } = event;
  return {
    ...{ word: "conversation_ended", id: endId(tenantId, conversationId, atMs), atMs },
    data: {
      ...{ tenantId, conversationId, at: atMs, cause: "person", by, reason },
      ...{ agentId: null, decisionId: null },
    },
  };
}

function endByEscalation(event: CallRefused): readonly ConversationEvent[] {
  if (event.raised?.ended !== "conversation") return [];
  const { tenantId, conversationId, decisionId, refusal } = event;
  const { atMs } = event.times;
  return [
    {
      ...{ word: "conversation_ended", id: endId(tenantId, conversationId, atMs), atMs },
      data: {
        ...{ tenantId, conversationId, at: atMs, cause: "escalation", by: null },
        ...{ reason: refusal.reason, agentId: event.call.agentId, decisionId },
      },
    },
  ];
}

/** Names of conversations may have any characters, and an id goes into a header. */
function endId(tenantId: string, conversationId: string, atMs: number): string {
  return `conversation-ended-${digest([tenantId, conversationId, atMs])}`;
}

/** An alert that was raised, or one whose cause is over. */
export function alertEvent(alert: Alert): AlertEvent {
  const { atMs, resolvedAtMs, ...rest } = alert;
  const { alertId, tenantId, conversationId } = alert;
  return {
    word: "alert",
    id: `alert-${digest([tenantId, conversationId, alertId, atMs, resolvedAtMs])}`,
    atMs: resolvedAtMs ?? atMs,
    data: { ...rest, at: atMs, resolvedAt: resolvedAtMs },
  };
}

function digest(values: readonly unknown[]): string {
  return jsonDigest("callgate.notify/1", values).slice(0, ID_DIGITS);
}
