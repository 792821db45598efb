/**
 * Headers of the records on the decision topics, so that a consumer can pick a tenant's, a
 * conversation's or a call's records without decoding any of them. With a source they make each
 * record a CloudEvent in binary mode (Kafka protocol binding 1.0.2).
 */
import type { DecisionEvent, Outcome } from "../core/events.ts";
import { conversationKey } from "./partitioner.ts";
import type { RecordHeader } from "./ports.ts";

/** Trace headers of the input that its decision carries too. */
const PASSED_ON: readonly string[] = ["traceparent", "tracestate"];

/** `callgate-reason` is on refused and held calls alone. Values are UTF-8. */
export function decisionHeaders(
  event: DecisionEvent,
  inputHeaders: readonly RecordHeader[],
  eventSource: string | null,
): readonly RecordHeader[] {
  const headers: RecordHeader[] = [
    { name: "callgate-tenant", value: event.tenantId },
    { name: "callgate-conversation", value: event.conversationId },
    { name: "callgate-call", value: event.call.callId },
    { name: "callgate-outcome", value: event.type },
  ];
  if (event.type === "refused") {
    headers.push({ name: "callgate-reason", value: event.refusal.reason });
  } else if (event.type === "held") {
    headers.push({ name: "callgate-reason", value: "approval_required" });
  }
  if (eventSource !== null) headers.push(...eventHeaders(event, eventSource));
  for (const header of inputHeaders) {
    if (!PASSED_ON.includes(header.name)) continue;
    headers.push(header);
    if (eventSource !== null) headers.push({ name: `ce_${header.name}`, value: header.value });
  }
  return headers;
}

const EVENT_TYPES: { readonly [outcome in Outcome]: string } = {
  allowed: "callgate.call.allowed.v1",
  refused: "callgate.call.refused.v1",
  held: "callgate.call.held.v1",
};

/** The attributes that the schemas document for a null `ceId`, `ceType` and so on. */
function eventHeaders(event: DecisionEvent, source: string): readonly RecordHeader[] {
  return [
    { name: "ce_specversion", value: "1.0" },
    { name: "ce_id", value: event.type === "held" ? event.holdId : event.decisionId },
    { name: "ce_source", value: source },
    { name: "ce_type", value: EVENT_TYPES[event.type] },
    { name: "ce_subject", value: conversationKey(event.tenantId, event.conversationId) },
    { name: "ce_time", value: new Date(event.times.atMs).toISOString() },
    { name: "content-type", value: "application/avro" },
  ];
}
