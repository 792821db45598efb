/** What a decision becomes for its readers, and what cannot be decided. */
import type { CallAllowed, CallHeld, CallRefused, DecisionEvent } from "../core/events.ts";
import { idempotencyKey } from "../core/hash.ts";
import { openedText } from "../core/seal/open-arguments.ts";
import { createSealing } from "../core/seal/sealing.ts";
import { FatalError } from "../runtime/errors.ts";
import type { DeadLetter, EncodedDecision } from "../runtime/ports.ts";
import {
  type AllowedCall,
  type HeldCall,
  IDEMPOTENCY_HEADER,
  type RefusedCall,
} from "./output-records.ts";
import type { RawCloudEvent, RawTrace } from "./raw-journal.ts";
import type { RecentKeys } from "./recent-keys.ts";
import { asBuffer, type RecordTypes } from "./record-types.ts";
import { writeAllowedCall, writeRefusedCall } from "./write-outputs.ts";

/** Secrets that idempotency keys are made with, by their id. */
export type Secrets = ReadonlyMap<string, Uint8Array>;

/**
 * The idempotency key of an allowed call: the same for all retries of its occurrence.
 *
 * @throws FatalError where the secret that the decision names is not at hand.
 */
export function keyOfAllowed(secrets: Secrets, event: CallAllowed): string {
  return idempotencyKey(secretOf(secrets, event.keyId), {
    tenantId: event.tenantId,
    conversationId: event.conversationId,
    tool: event.tool,
    identity: event.actionKey,
    decisionId: event.occurrence.decisionId,
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

/** The arguments of a call as they were sent, canonical JSON; null where they are sealed and cannot be opened. */
export function openedArguments(secrets: Secrets, event: CallAllowed): string | null {
  const { sealed } = event;
  if (sealed === undefined) return event.arguments;
  if (!sealed.every(({ keyId }) => secrets.has(keyId))) return null;
  return openedText(event, createSealing(event.keyId, secrets));
}

/** @throws FatalError where a secret is not at hand, or what was sealed cannot be opened. */
function argumentsOfAllowed(secrets: Secrets, event: CallAllowed): string {
  for (const { keyId } of event.sealed ?? []) secretOf(secrets, keyId);
  const text = openedArguments(secrets, event);
  if (text !== null) return text;
  throw new FatalError("unexpected", `what is sealed of \`${event.decisionId}\` cannot be opened`);
}

/**
 * @param recent is given the key of an allowed call.
 * @throws FatalError for an unknown key id, or a field that is not what the schema says.
 */
export function encodeDecision(
  types: RecordTypes,
  secrets: Secrets,
  event: DecisionEvent,
  inputOffset: number,
  recent?: RecentKeys,
): EncodedDecision {
  const { writer } = types;
  switch (event.type) {
    case "allowed": {
      const key = keyOfAllowed(secrets, event);
      recent?.put(event, key);
      writer.begin(types["allowed-call"].prefix);
      writeAllowedCall(writer, event, key, inputOffset);
      const value = writer.end();
      if (value !== undefined) return { topic: "allowed", value };
      break;
    }
    case "refused": {
      writer.begin(types["refused-call"].prefix);
      writeRefusedCall(writer, event, inputOffset);
      const value = writer.end();
      if (value !== undefined) return { topic: "refused", value };
      break;
    }
    case "held":
      break;
  }
  return encodeDecisionByLibrary(types, secrets, event, inputOffset);
}

/** Any decision; throws as `encodeDecision` does. */
export function encodeDecisionByLibrary(
  types: RecordTypes,
  secrets: Secrets,
  event: DecisionEvent,
  inputOffset: number,
): EncodedDecision {
  switch (event.type) {
    case "allowed": {
      const key = keyOfAllowed(secrets, event);
      const call = allowedCall(event, argumentsOfAllowed(secrets, event), key, inputOffset);
      return { topic: "allowed", value: types["allowed-call"].encode(call) };
    }
    case "refused": {
      const value = types["refused-call"].encode(refusedCall(event, inputOffset));
      return { topic: "refused", value };
    }
    case "held":
      return { topic: "held", value: types["held-call"].encode(heldCall(event, inputOffset)) };
  }
}

type Written<T> = T & RawTrace & RawCloudEvent;

function allowedCall(
  event: CallAllowed,
  text: string,
  key: string,
  inputOffset: number,
): Written<AllowedCall> {
  return {
    decisionId: event.decisionId,
    tenantId: event.tenantId,
    conversationId: event.conversationId,
    callId: event.callId,
    agentId: event.agentId,
    turn: event.turn,
    step: event.step,
    tool: event.tool,
    arguments: text,
    argumentsDigest: event.argumentsDigest,
    actionKey: event.actionKey,
    atMs: event.atMs,
    policy: event.policy,
    tier: event.tier,
    isRead: event.isRead,
    warnings: event.warnings,
    confirmation: event.confirmation,
    approvalId: event.approvalId,
    approvedBy: event.approvedBy,
    idempotencyKey: key,
    keyId: event.keyId,
    header: IDEMPOTENCY_HEADER,
    idempotencyArgument: event.idempotencyArgument,
    occurrence: event.occurrence,
    notAfterMs: event.notAfterMs,
    timeLimitMs: event.timeLimitMs,
    inputOffset,
    traceparent: null,
    tracestate: null,
    ceId: null,
    ceSource: null,
    ceType: null,
    ceTime: null,
  };
}

/** The refusal's own fields stand at the top of the record, as agents read them. */
type FlatRefusal = Omit<RefusedCall, "refusal"> & CallRefused["refusal"];

function refusedCall(event: CallRefused, inputOffset: number): Written<FlatRefusal> {
  const { refusal } = event;
  return {
    schemaVersion: refusal.schemaVersion,
    decisionId: refusal.decisionId,
    callId: refusal.callId,
    tool: refusal.tool,
    arguments: refusal.arguments,
    reason: refusal.reason,
    message: refusal.message,
    duplicate: refusal.duplicate,
    note: refusal.note,
    rule: refusal.rule,
    policy: refusal.policy,
    level: refusal.level,
    count: refusal.count,
    retryable: refusal.retryable,
    disposition: refusal.disposition,
    previousCall: refusal.previousCall,
    previousResult: refusal.previousResult,
    conflict: refusal.conflict,
    resolution: refusal.resolution,
    suggestedNext: refusal.suggestedNext,
    problems: refusal.problems,
    known: refusal.known,
    userMessage: refusal.userMessage,
    tenantId: event.tenantId,
    conversationId: event.conversationId,
    agentId: event.agentId,
    turn: event.turn,
    step: event.step,
    atMs: event.atMs,
    warnings: event.warnings,
    approvalId: event.approvalId,
    inputOffset,
    traceparent: null,
    tracestate: null,
    ceId: null,
    ceSource: null,
    ceType: null,
    ceTime: null,
  };
}

function heldCall(event: CallHeld, inputOffset: number): Written<HeldCall> {
  return {
    decisionId: event.decisionId,
    approvalId: event.holdId,
    tenantId: event.tenantId,
    conversationId: event.conversationId,
    callId: event.callId,
    agentId: event.agentId,
    turn: event.turn,
    step: event.step,
    tool: event.tool,
    arguments: event.arguments,
    argumentsDigest: event.argumentsDigest,
    actionKey: event.actionKey,
    atMs: event.atMs,
    expiresAtMs: event.expiresAtMs,
    requireReason: event.requireReason,
    approvals: event.approvals,
    holdNumber: event.holdNumber,
    ruleDigest: event.ruleDigest,
    message: event.message,
    rule: event.rule,
    policy: event.policy,
    tier: event.tier,
    isRead: event.isRead,
    resources: event.call.resources,
    exclusive: event.call.exclusive,
    warnings: event.warnings,
    inputOffset,
    traceparent: null,
    tracestate: null,
    ceId: null,
    ceSource: null,
    ceType: null,
    ceTime: null,
  };
}

/** @throws FatalError where a field is not what the schema says. */
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
