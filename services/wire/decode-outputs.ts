/** Decodes the gate's outputs for their readers: plain objects, with closed lists checked. */
import { PoisonRecordError } from "../runtime/errors.ts";
import type { DeadLetter } from "../runtime/ports.ts";
import { member, optionalMember, QUARANTINES, REASON_WORDS, TOPICS } from "./closed-lists.ts";
import {
  ALERT_KINDS,
  ALERT_SEVERITIES,
  type Alert,
  type AllowedCall,
  type HeldCall,
  type RefusedCall,
} from "./output-records.ts";
import { UndecodableError } from "./reader.ts";
import type { RecordTypes } from "./record-types.ts";

/**
 * Runs a reader and says in the error what it could not read. @throws PoisonRecordError, and
 * nothing else.
 */
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
  return readable(() => types["allowed-call"].decode(value) as AllowedCall);
}

/** @throws PoisonRecordError where the bytes are no refused call. */
export function decodeRefused(types: RecordTypes, value: Uint8Array): RefusedCall {
  return readable(() => types["refused-call"].decode(value) as RefusedCall);
}

/** @throws PoisonRecordError where the bytes are no held call. */
export function decodeHeld(types: RecordTypes, value: Uint8Array): HeldCall {
  return readable(() => types["held-call"].decode(value) as HeldCall);
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
      reason: optionalMember(REASON_WORDS, raw.reason),
      decisionId: raw.decisionId,
      message: raw.message,
      value: raw.value,
      threshold: raw.threshold,
      windowMs: raw.windowMs,
      count: raw.count,
    };
  });
}

/** @throws FatalError where a field does not fit the schema. */
export function encodeAlert(types: RecordTypes, alert: Alert): Uint8Array {
  return types.alert.encode(alert);
}
