/** An event as CloudEvents 1.0 in structured mode. */
import type { NotifyEvent } from "./notify-event.ts";

export const CLOUD_EVENTS_TYPE = "application/cloudevents+json; charset=utf-8";

export function cloudEventOf(event: NotifyEvent, source: string): string {
  return JSON.stringify({
    specversion: "1.0",
    id: event.id,
    source,
    type: typeOf(event),
    subject: subjectOf(event),
    time: new Date(event.atMs).toISOString(),
    datacontenttype: "application/json",
    data: event.data,
  });
}

function typeOf(event: NotifyEvent): string {
  switch (event.word) {
    case "conversation_ended":
      return "callgate.conversation.ended";
    case "alert":
      return `callgate.alert.${event.data.resolvedAt === null ? "raised" : "resolved"}`;
    default:
      return `callgate.call.${event.word}`;
  }
}

/** What receivers filter by without reading the data. */
function subjectOf({ data: { tenantId, conversationId } }: NotifyEvent): string {
  return `${encodeURIComponent(tenantId)}/${encodeURIComponent(conversationId)}`;
}
