/** The records that allowed and refused calls become, as `schemas/*.avsc` put their fields in order. */
import type { CallAllowed, CallRefused } from "../core/events.ts";
import type { FlatWriter } from "./flat-writer.ts";
import { IDEMPOTENCY_HEADER } from "./output-records.ts";
import { writeDecisionStart, writeNotices, writeRefusalRest } from "./write-parts.ts";

/** Trace context and the attributes of CloudEvents. */
const UNSET_FIELDS = 6;

/** A call with nothing sealed: what is, stands in clear in this record. */
export function writeAllowedCall(
  writer: FlatWriter,
  event: CallAllowed,
  key: string,
  inputOffset: number,
): void {
  if (event.sealed !== undefined) writer.odd();
  writeDecisionStart(writer, event);
  writer.text(event.policy);
  writer.nullableText(event.tier);
  writer.bool(event.isRead);
  writeNotices(writer, event.warnings);
  writer.nullableText(event.confirmation);
  writer.nullableText(event.approvalId);
  writer.texts(event.approvedBy);
  writer.text(key);
  writer.text(event.keyId);
  writer.text(IDEMPOTENCY_HEADER);
  writer.nullableText(event.idempotencyArgument);
  writer.text(event.occurrence.decisionId);
  writer.long(event.occurrence.openedAtMs);
  writer.int(event.occurrence.attempt);
  writer.long(event.notAfterMs);
  writer.long(event.timeLimitMs);
  writer.long(inputOffset);
  writer.nothing(UNSET_FIELDS);
}

export function writeRefusedCall(
  writer: FlatWriter,
  event: CallRefused,
  inputOffset: number,
): void {
  const { refusal } = event;
  writer.int(refusal.schemaVersion);
  writer.text(event.tenantId);
  writer.text(event.conversationId);
  writer.nullableText(event.agentId);
  writer.nullableText(event.turn);
  writer.nullableText(event.step);
  writer.text(refusal.decisionId);
  writer.text(refusal.callId);
  writer.text(refusal.tool);
  writer.text(refusal.arguments);
  writeRefusalRest(writer, refusal, null);
  writer.long(event.atMs);
  writeNotices(writer, event.warnings);
  writer.nullableText(event.approvalId);
  writer.long(inputOffset);
  writer.nothing(UNSET_FIELDS);
}
