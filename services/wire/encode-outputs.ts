/** Encodes decisions and dead letters for their readers. */
import type { DecidedArguments } from "../core/decision.ts";
import type { CallAllowed, CallHeld, CallRefused, DecisionEvent } from "../core/events.ts";
import { idempotencyKey } from "../core/hash.ts";
import { openedText } from "../core/seal/open-arguments.ts";
import { createSealing } from "../core/seal/sealing.ts";
import { shownArguments } from "../core/shown-arguments.ts";
import { FatalError } from "../runtime/errors.ts";
import type { DeadLetter, EncodedDecision } from "../runtime/ports.ts";
import {
  type AllowedCall,
  type HeldCall,
  IDEMPOTENCY_HEADER,
  type RefusedCall,
} from "./output-records.ts";
import { asBuffer, type RecordTypes } from "./record-types.ts";

/** Secrets for idempotency keys, by key id. */
export type Secrets = ReadonlyMap<string, Uint8Array>;

/**
 * The idempotency key of an allowed call: the same for all retries of its execution.
 *
 * @throws FatalError where the secret that the decision names is missing.
 */
export function keyOfAllowed(secrets: Secrets, event: CallAllowed): string {
  return idempotencyKey(secretOf(secrets, event.keyId), {
    tenantId: event.tenantId,
    conversationId: event.conversationId,
    tool: event.call.tool,
    identity: event.arguments.actionKey,
    decisionId: event.execution.decisionId,
  });
}

function secretOf(secrets: Secrets, keyId: string): Uint8Array {
  const secret = secrets.get(keyId);
  if (secret !== undefined) return secret;
  throw new FatalError(
    "secret_missing",
    `no secret has the key id \`${keyId}\`: keep each secret until its calls are over`,
  );
}

/**
 * The arguments of a call as they were sent, canonical JSON; null where they are sealed and cannot
 * be opened.
 */
export function openedArguments(secrets: Secrets, event: CallAllowed): string | null {
  const {
    arguments: { sealed },
  } = event;
  if (sealed.length === 0) return event.arguments.text;
  if (!sealed.every(({ keyId }) => secrets.has(keyId))) return null;
  return openedText(event, createSealing(event.keyId, secrets));
}

/** @throws FatalError where a secret is missing, or sealed arguments cannot be opened. */
function clearArguments(secrets: Secrets, event: CallAllowed): DecidedArguments {
  const { sealed } = event.arguments;
  if (sealed.length === 0) return event.arguments;
  for (const { keyId } of sealed) secretOf(secrets, keyId);
  const text = openedArguments(secrets, event);
  if (text !== null) return { ...event.arguments, text, sealed: [] };
  throw new FatalError(
    "unexpected",
    `the sealed arguments of \`${event.decisionId}\` cannot be opened`,
  );
}

/** @throws FatalError for an unknown key id, or a field that does not fit the schema. */
export function encodeDecision(
  types: RecordTypes,
  secrets: Secrets,
  event: DecisionEvent,
  inputOffset: number,
): EncodedDecision {
  switch (event.type) {
    case "allowed": {
      const call = allowedCall(secrets, event, inputOffset);
      return { topic: "allowed", value: encodeAllowed(types, call) };
    }
    case "refused": {
      const value = types["refused-call"].encode(refusedCall(event, inputOffset));
      return { topic: "refused", value };
    }
    case "held":
      return { topic: "held", value: types["held-call"].encode(heldCall(event, inputOffset)) };
  }
}

/** @throws FatalError where a field does not fit the schema. */
export function encodeAllowed(types: RecordTypes, call: AllowedCall): Uint8Array {
  return types["allowed-call"].encode(call);
}

function allowedCall(secrets: Secrets, event: CallAllowed, inputOffset: number): AllowedCall {
  return {
    decisionId: event.decisionId,
    tenantId: event.tenantId,
    conversationId: event.conversationId,
    call: event.call,
    arguments: clearArguments(secrets, event),
    policy: event.policy,
    atMs: event.times.atMs,
    warnings: event.notices.warnings,
    confirmation: event.conversation.confirmation,
    approval: event.approval,
    idempotencyKey: keyOfAllowed(secrets, event),
    keyId: event.keyId,
    header: IDEMPOTENCY_HEADER,
    idempotencyArgument: event.idempotencyArgument,
    execution: event.execution,
    notAfterMs: event.notAfterMs,
    timeLimitMs: event.timeLimitMs,
    inputOffset,
  };
}

function refusedCall(event: CallRefused, inputOffset: number): RefusedCall {
  return {
    decisionId: event.decisionId,
    tenantId: event.tenantId,
    conversationId: event.conversationId,
    call: event.call,
    arguments: shownArguments(event),
    policy: event.policy,
    refusal: event.refusal,
    atMs: event.times.atMs,
    warnings: event.notices.warnings,
    approvalId: event.approval.approvalId,
    inputOffset,
  };
}

function heldCall(event: CallHeld, inputOffset: number): HeldCall {
  return {
    decisionId: event.decisionId,
    tenantId: event.tenantId,
    conversationId: event.conversationId,
    call: event.call,
    arguments: event.arguments,
    policy: event.policy,
    approvalId: event.holdId,
    atMs: event.times.atMs,
    expiresAtMs: event.expiresAtMs,
    requireReason: event.requireReason,
    approvals: event.approvals,
    holdNumber: event.holdNumber,
    ruleDigest: event.ruleDigest,
    message: event.message,
    rule: event.rule,
    resources: event.facts.resources,
    exclusive: event.facts.exclusive,
    warnings: event.notices.warnings,
    inputOffset,
  };
}

/** @throws FatalError where a field does not fit the schema. */
export function encodeDeadLetter(types: RecordTypes, letter: DeadLetter): Uint8Array {
  const { at, code, message, key, value } = letter;
  return types["dead-letter"].encode({
    topic: at.topic,
    partition: at.partition,
    offset: at.offset,
    appendTimeMs: at.appendTimeMs,
    reason: code,
    message,
    key: key === null ? null : asBuffer(key),
    value: value === null ? null : asBuffer(value),
  });
}
