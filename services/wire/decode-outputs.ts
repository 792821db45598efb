/** What readers of the gate's outputs get: plain objects, lists checked. */
import type { Refusal } from "../core/events.ts";
import { PoisonRecordError } from "../runtime/errors.ts";
import type { DeadLetter } from "../runtime/ports.ts";
import { member, optionalMember, QUARANTINES, REASONS, TOPICS } from "./closed-lists.ts";
import {
  ALERT_KINDS,
  ALERT_SEVERITIES,
  type Alert,
  type AllowedCall,
  type HeldCall,
  type RefusedCall,
} from "./output-records.ts";
import { plainEffects, plainNotices, plainRefusal } from "./plain.ts";
import { UndecodableError } from "./reader.ts";
import type { RecordTypes } from "./record-types.ts";

/** Runs a reader and names what it stumbles over. @throws PoisonRecordError, and nothing else. */
function readable<T>(read: () => T): T {
  try {
    return read();
  } catch (cause) {
    if (!(cause instanceof UndecodableError)) throw cause;
    throw new PoisonRecordError("undecodable", cause.message, { cause });
  }
}

/** @throws PoisonRecordError where the bytes are no allowed call. */
export function decodeAllowed(types: RecordTypes, value: Uint8Array): AllowedCall {
  return readable(() => {
    const raw = types["allowed-call"].decode(value) as AllowedCall;
    const { decisionId, openedAtMs, attempt } = raw.occurrence;
    return {
      ...nameOf(raw),
      decisionId: raw.decisionId,
      arguments: raw.arguments,
      argumentsDigest: raw.argumentsDigest,
      actionKey: raw.actionKey,
      atMs: raw.atMs,
      policy: raw.policy,
      tier: raw.tier,
      isRead: raw.isRead,
      warnings: plainNotices(raw.warnings),
      confirmation: raw.confirmation,
      approvalId: raw.approvalId,
      approvedBy: raw.approvedBy,
      idempotencyKey: raw.idempotencyKey,
      keyId: raw.keyId,
      header: raw.header,
      idempotencyArgument: raw.idempotencyArgument,
      occurrence: { decisionId, openedAtMs, attempt },
      notAfterMs: raw.notAfterMs,
      timeLimitMs: raw.timeLimitMs,
      inputOffset: raw.inputOffset,
    };
  });
}

type Name = Pick<
  AllowedCall,
  "tenantId" | "conversationId" | "callId" | "agentId" | "turn" | "step" | "tool"
>;

function nameOf(raw: Name): Name {
  const { tenantId, conversationId, callId, agentId, turn, step, tool } = raw;
  return { tenantId, conversationId, callId, agentId, turn, step, tool };
}

/** @throws PoisonRecordError where the bytes are no refused call. */
export function decodeRefused(types: RecordTypes, value: Uint8Array): RefusedCall {
  return readable(() => {
    const raw = types["refused-call"].decode(value) as RefusedCall & Refusal;
    return {
      tenantId: raw.tenantId,
      conversationId: raw.conversationId,
      agentId: raw.agentId,
      turn: raw.turn,
      step: raw.step,
      refusal: plainRefusal(raw),
      atMs: raw.atMs,
      warnings: plainNotices(raw.warnings),
      approvalId: raw.approvalId,
      inputOffset: raw.inputOffset,
    };
  });
}

/** @throws PoisonRecordError where the bytes are no held call. */
export function decodeHeld(types: RecordTypes, value: Uint8Array): HeldCall {
  return readable(() => {
    const raw = types["held-call"].decode(value) as HeldCall;
    return {
      ...nameOf(raw),
      decisionId: raw.decisionId,
      approvalId: raw.approvalId,
      arguments: raw.arguments,
      argumentsDigest: raw.argumentsDigest,
      actionKey: raw.actionKey,
      atMs: raw.atMs,
      expiresAtMs: raw.expiresAtMs,
      requireReason: raw.requireReason,
      approvals: raw.approvals,
      holdNumber: raw.holdNumber,
      ruleDigest: raw.ruleDigest,
      message: raw.message,
      rule: raw.rule,
      policy: raw.policy,
      tier: raw.tier,
      isRead: raw.isRead,
      resources: raw.resources,
      exclusive: plainEffects(raw.exclusive),
      warnings: plainNotices(raw.warnings),
      inputOffset: raw.inputOffset,
    };
  });
}

type WrittenLetter = Omit<DeadLetter, "at" | "code"> &
  DeadLetter["at"] & { readonly reason: string };

/** @throws PoisonRecordError where the bytes are no dead letter. */
export function decodeDeadLetter(types: RecordTypes, value: Uint8Array): DeadLetter {
  return readable(() => {
    const raw = types["dead-letter"].decode(value) as WrittenLetter;
    const { partition, offset, appendTimeMs, message } = raw;
    return {
      at: { topic: member(TOPICS, raw.topic), partition, offset, appendTimeMs },
      code: member(QUARANTINES, raw.reason),
      message,
      key: raw.key === null ? null : new Uint8Array(raw.key),
      value: raw.value === null ? null : new Uint8Array(raw.value),
    };
  });
}

const KINDS = { what: "kind of alert", members: new Set<string>(ALERT_KINDS) };
const SEVERITIES = { what: "severity", members: new Set<string>(ALERT_SEVERITIES) };

/** @throws PoisonRecordError where the bytes are no alert. */
export function decodeAlert(types: RecordTypes, value: Uint8Array): Alert {
  return readable(() => {
    const raw = types.alert.decode(value) as Alert;
    return {
      alertId: raw.alertId,
      kind: member<Alert["kind"]>(KINDS, raw.kind),
      severity: member<Alert["severity"]>(SEVERITIES, raw.severity),
      tenantId: raw.tenantId,
      conversationId: raw.conversationId,
      atMs: raw.atMs,
      resolvedAtMs: raw.resolvedAtMs,
      agentId: raw.agentId,
      tool: raw.tool,
      reason: optionalMember(REASONS, raw.reason),
      decisionId: raw.decisionId,
      message: raw.message,
      value: raw.value,
      threshold: raw.threshold,
      windowMs: raw.windowMs,
      count: raw.count,
    };
  });
}

/** @throws FatalError where a field is not what the schema says. */
export function encodeAlert(types: RecordTypes, alert: Alert): Uint8Array {
  return types.alert.encode(alert);
}
