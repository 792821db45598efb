/** Events as they are written. Sub-records are passed as they are where core and schema agree. */
import type {
  CallAllowed,
  CallFacts,
  CallHeld,
  CallRefused,
  DecisionEvent,
  GateEvent,
  Refusal,
  ResultRecorded,
  SealedValue,
} from "../core/events.ts";
import type {
  RawAllowed,
  RawCall,
  RawCallFacts,
  RawDecision,
  RawEvent,
  RawHeld,
  RawRecordedResult,
  RawRefusal,
  RawRefused,
  RawSealed,
} from "./raw-journal.ts";

/** `revision` is the record's: a decision under the same names it by null. */
export function eventToRaw(event: GateEvent, revision: string): RawEvent {
  switch (event.type) {
    case "allowed":
    case "refused":
    case "held":
      return rawEvent(event.type, decisionToRaw(event, revision), null);
    case "repeated":
      return rawEvent("repeated", decisionToRaw(event.decision, revision), null);
    case "result_recorded":
      return { ...rawEvent(event.type, null, callToRaw(event)), result: resultToRaw(event) };
    case "outcome_unknown":
      return rawEvent(event.type, null, callToRaw(event));
    case "reconciled": {
      const { outcome, by, reason } = event;
      const raw = rawEvent(event.type, null, callToRaw(event));
      return { ...raw, reconciled: { outcome, by, reason } };
    }
    case "ruled":
      return { ...rawEvent(event.type, null, null), ruled: event };
    case "ignored":
      return { ...rawEvent(event.type, null, null), ignored: event };
  }
}

/** Nulls are written out: a field that is absent costs more to write than one that is null. */
function rawEvent(kind: string, decision: RawDecision | null, call: RawCall | null): RawEvent {
  return { kind, decision, call, result: null, reconciled: null, ruled: null, ignored: null };
}

const NONE_SEALED: readonly RawSealed[] = [];

function sealedToRaw({ path, keyId, nonce, sealed }: SealedValue): RawSealed {
  return { path, keyId, nonce: Buffer.from(nonce, "hex"), sealed: Buffer.from(sealed, "hex") };
}

function decisionToRaw(event: DecisionEvent, revision: string): RawDecision {
  return {
    decisionId: event.decisionId,
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
    proposalsAtMs: event.proposalsAtMs,
    policy: event.policy === revision ? null : event.policy,
    tier: event.tier,
    isRead: event.isRead,
    warnings: event.warnings,
    shadow: event.shadow,
    fresh: event.fresh,
    stateDropAtMs: event.stateDropAtMs,
    entersTurn: event.entersTurn,
    confirmation: event.confirmation,
    approvalId: event.approvalId,
    approvedBy: event.approvedBy,
    evicted: event.evicted,
    sealed: event.sealed === undefined ? NONE_SEALED : event.sealed.map(sealedToRaw),
    traceparent: null,
    tracestate: null,
    call: event.type === "refused" ? null : factsToRaw(event.call, event.actionKey),
    allowed: event.type === "allowed" ? allowedToRaw(event) : null,
    refused: event.type === "refused" ? refusedToRaw(event) : null,
    held: event.type === "held" ? heldToRaw(event) : null,
  };
}

function allowedToRaw(event: CallAllowed): RawAllowed {
  const { decisionId, openedAtMs, attempt } = event.occurrence;
  return {
    keyId: event.keyId,
    occurrence: {
      decisionId: decisionId === event.decisionId ? null : decisionId,
      openedAtMs,
      attempt,
    },
    notAfterMs: event.notAfterMs,
    timeLimitMs: event.timeLimitMs,
    idempotencyArgument: event.idempotencyArgument,
  };
}

function refusedToRaw(event: CallRefused): RawRefused {
  return {
    refusal: refusalToRaw(event.refusal, event),
    strike: event.strike,
    raised: event.raised,
    cycle: event.cycle,
    counted: event.counted,
    denial: event.denial,
    answered: answeredToRaw(event),
  };
}

function answeredToRaw({ answered, actionKey }: CallRefused): RawRefused["answered"] {
  if (answered === null) return null;
  return { call: factsToRaw(answered.call, actionKey), outputDigest: answered.outputDigest };
}

function factsToRaw(call: CallFacts, actionKey: string): RawCallFacts {
  return {
    twinKey: unless(call.twinKey, actionKey),
    resources: call.resources,
    exclusive: call.exclusive,
    windowUntilMs: call.windowUntilMs,
    dropAtMs: call.dropAtMs,
    ringSize: call.ringSize,
    repeats: call.repeats,
    rates: call.rates,
    grant: call.grant,
    more: call.more,
  };
}

function refusalToRaw(refusal: Refusal, event: CallRefused): RawRefusal {
  return {
    schemaVersion: refusal.schemaVersion,
    decisionId: unless(refusal.decisionId, event.decisionId),
    callId: unless(refusal.callId, event.callId),
    tool: unless(refusal.tool, event.tool),
    arguments: unless(refusal.arguments, event.arguments),
    reason: refusal.reason,
    message: refusal.message,
    duplicate: refusal.duplicate,
    note: refusal.note,
    rule: refusal.rule,
    policy: unless(refusal.policy, event.policy),
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
  };
}

/** Null stands for what the decision already says. */
function unless(text: string, said: string): string | null {
  return text === said ? null : text;
}

function heldToRaw(event: CallHeld): RawHeld {
  return {
    holdId: event.holdId,
    expiresAtMs: event.expiresAtMs,
    requireReason: event.requireReason,
    approvals: event.approvals,
    holdNumber: event.holdNumber,
    ruleDigest: event.ruleDigest,
    scope: event.scope,
    message: event.message,
    rule: event.rule,
  };
}

function callToRaw(event: RawCall): RawCall {
  return {
    tenantId: event.tenantId,
    conversationId: event.conversationId,
    decisionId: event.decisionId,
    callId: event.callId,
    tool: event.tool,
    atMs: event.atMs,
  };
}

function resultToRaw(event: ResultRecorded): RawRecordedResult {
  return {
    status: event.status,
    effect: event.effect,
    output: event.output,
    outputDigest: event.outputDigest,
    outputBytes: event.outputBytes,
    whole: event.whole,
    error: event.error,
    transient: event.transient,
    durationMs: event.durationMs,
    cost: event.cost,
    evicted: event.evicted,
    effects: event.effects,
  };
}
