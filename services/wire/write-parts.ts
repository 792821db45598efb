/** Parts that several records have, as `schemas/*.avsc` put their fields in order. */
import type {
  CallFacts,
  DecisionBase,
  Evicted,
  ExclusiveEffect,
  KnownResult,
  Notice,
  PreviousCall,
  PreviousResult,
  Refusal,
  Resolution,
} from "../core/events.ts";
import type { Money } from "../core/inputs.ts";
import type { FlatWriter } from "./flat-writer.ts";

/** From `decisionId` to `atMs`: what begins an allowed call begins its decision in the journal as well. */
export function writeDecisionStart(writer: FlatWriter, event: DecisionBase): void {
  if (writer.again(event)) return;
  const from = writer.place;
  writer.text(event.decisionId);
  writer.text(event.tenantId);
  writer.text(event.conversationId);
  writer.text(event.callId);
  writer.nullableText(event.agentId);
  writer.nullableText(event.turn);
  writer.nullableText(event.step);
  writer.text(event.tool);
  writer.text(event.arguments);
  writer.text(event.argumentsDigest);
  writer.text(event.actionKey);
  writer.long(event.atMs);
  writer.mark(event, from);
}

export function writeNotices(writer: FlatWriter, notices: readonly Notice[]): void {
  writer.count(notices.length);
  for (const { reason, message, rule } of notices) {
    writer.text(reason);
    writer.text(message);
    writer.text(rule);
  }
  writer.nothing();
}

export function writeMoney(writer: FlatWriter, money: Money | null): void {
  if (!writer.isThere(money)) return;
  writer.long(money.microUnits);
  writer.text(money.currency);
}

export function writeEvicted(writer: FlatWriter, evicted: Evicted | null): void {
  if (!writer.isThere(evicted)) return;
  writer.texts(evicted.reads);
  writer.texts(evicted.names);
  writer.texts(evicted.writes);
  writer.texts(evicted.resources);
}

/** `actionKey`: of the decision; a twin of that key is not named again. */
export function writeFacts(writer: FlatWriter, call: CallFacts, actionKey: string): void {
  writer.textUnless(call.twinKey, actionKey);
  writer.nullableTexts(call.resources);
  writeExclusive(writer, call.exclusive);
  writer.long(call.windowUntilMs);
  writer.long(call.dropAtMs);
  writer.int(call.ringSize);
  writer.int(call.repeats);
  writer.count(call.rates.length);
  for (const { key, windowMs } of call.rates) {
    writer.text(key);
    writer.long(windowMs);
  }
  writer.nothing();
  writeGrant(writer, call.grant);
  // What few calls have is left to the library.
  if (call.more !== null) writer.odd();
  writer.nothing();
}

function writeExclusive(writer: FlatWriter, effects: readonly ExclusiveEffect[]): void {
  writer.count(effects.length);
  for (const { resource, kind, rule, wholes, onFailure } of effects) {
    writer.text(resource);
    writer.text(kind);
    writer.text(rule);
    writer.nullableTexts(wholes);
    writer.text(onFailure);
  }
  writer.nothing();
}

function writeGrant(writer: FlatWriter, grant: CallFacts["grant"]): void {
  if (!writer.isThere(grant)) return;
  writer.text(grant.tier);
  writer.long(grant.expiresAtMs);
}

/** From `reason` on. `said`: the policy that the journal has named already, or null where it is always named. */
export function writeRefusalRest(writer: FlatWriter, refusal: Refusal, said: string | null): void {
  writer.text(refusal.reason);
  writer.text(refusal.message);
  writer.bool(refusal.duplicate);
  writer.nullableText(refusal.note);
  writer.text(refusal.rule);
  if (said === null) writer.text(refusal.policy);
  else writer.textUnless(refusal.policy, said);
  writer.int(refusal.level);
  writer.int(refusal.count);
  writer.bool(refusal.retryable);
  writer.text(refusal.disposition);
  writePreviousCall(writer, refusal.previousCall);
  writePreviousResult(writer, refusal.previousResult);
  // A conflict is told with the path through the graph of resources, which few calls have.
  if (refusal.conflict !== null) writer.odd();
  writer.nothing();
  writeResolution(writer, refusal.resolution);
  writer.texts(refusal.suggestedNext);
  writer.count(refusal.problems.length);
  for (const { path, message } of refusal.problems) {
    writer.text(path);
    writer.text(message);
  }
  writer.nothing();
  writeKnown(writer, refusal.known);
  writer.nullableText(refusal.userMessage);
}

function writePreviousCall(writer: FlatWriter, call: PreviousCall | null): void {
  if (!writer.isThere(call)) return;
  writer.text(call.callId);
  writer.text(call.decisionId);
  writer.text(call.tool);
  writer.long(call.atMs);
  writer.text(call.status);
}

function writePreviousResult(writer: FlatWriter, result: PreviousResult | null): void {
  if (!writer.isThere(result)) return;
  writer.nullableText("inline" in result ? result.inline : null);
  writer.nullableText("ref" in result ? result.ref : null);
  writer.nullableText(result.digest);
  writer.long(result.bytes);
}

function writeResolution(writer: FlatWriter, resolution: Resolution): void {
  writer.text(resolution.type);
  writer.nullableLong(resolution.retryAfterMs);
  writer.nullableText(resolution.approvalId);
}

function writeKnown(writer: FlatWriter, known: readonly KnownResult[] | null): void {
  if (!writer.isThere(known)) return;
  writer.count(known.length);
  for (const { ref, tool, atMs, digest } of known) {
    writer.text(ref);
    writer.text(tool);
    writer.long(atMs);
    writer.nullableText(digest);
  }
  writer.nothing();
}
