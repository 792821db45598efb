/**
 * Headers of the records on the decision topics, so that a consumer can pick a tenant's, a
 * conversation's or a call's records without decoding any of them.
 */
import type { DecisionEvent } from "../core/events.ts";
import type { RecordHeader } from "./ports.ts";

/** Trace headers of the input that its decision carries too. */
const PASSED_ON: readonly string[] = ["traceparent", "tracestate"];

/** `callgate-reason` is on refused and held calls alone. Values are UTF-8. */
export function decisionHeaders(
  event: DecisionEvent,
  inputHeaders: readonly RecordHeader[],
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
  for (const header of inputHeaders) if (PASSED_ON.includes(header.name)) headers.push(header);
  return headers;
}
