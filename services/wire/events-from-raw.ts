/**
 * Events as they were read: the inverse of `eventToRaw`, with every list checked. Members come in the
 * order in which the core makes them: a decision is part of the state, whose hash is over its JSON.
 */
import type { RuleScope } from "../core/approval-facts.ts";
import { cutText } from "../core/cut-text.ts";
import type {
  CallRefused,
  DecisionBase,
  DecisionEvent,
  DecisionRepeated,
  GateEvent,
  InputIgnored,
  Raised,
  SealedValue,
  Strike,
  VerdictRuled,
} from "../core/events.ts";
import {
  ENDS,
  FAILURE_EFFECT_LIST,
  IGNORED_INPUTS,
  IGNORED_WHY,
  member,
  OUTCOMES,
  optionalMember,
  RULINGS,
  STATUSES,
} from "./closed-lists.ts";
import {
  plainCallFacts,
  plainError,
  plainEvicted,
  plainMoney,
  plainNotices,
  plainRefusal,
  plainResultEffects,
} from "./plain.ts";
import type {
  RawCall,
  RawDecision,
  RawEvent,
  RawRefused,
  RawRuling,
  RawSealed,
} from "./raw-journal.ts";
import { UndecodableError } from "./reader.ts";

export function eventFromRaw(raw: RawEvent, revision: string): GateEvent {
  switch (raw.kind) {
    case "allowed":
    case "refused":
    case "held":
      return decisionFromRaw(part(raw.decision), raw.kind, revision);
    case "repeated":
      return repeatedFromRaw(part(raw.decision), revision);
    case "result_recorded":
      return { type: "result_recorded", ...callFromRaw(part(raw.call)), ...resultFromRaw(raw) };
    case "outcome_unknown":
      return { type: "outcome_unknown", ...callFromRaw(part(raw.call)) };
    case "reconciled": {
      const { outcome, by, reason } = part(raw.reconciled);
      const call = callFromRaw(part(raw.call));
      return { type: "reconciled", ...call, outcome: member(OUTCOMES, outcome), by, reason };
    }
    case "ruled":
      return ruledFromRaw(part(raw.ruled));
    case "ignored":
      return ignoredFromRaw(part(raw.ignored));
    default:
      throw new UndecodableError(`\`${cutText(raw.kind, 40)}\` is no kind of event known here`);
  }
}

/** The part that the kind of the event promises. */
function part<T>(value: T | null | undefined): T {
  if (value === null || value === undefined) {
    throw new UndecodableError("an event lacks the part that its kind names");
  }
  return value;
}

function repeatedFromRaw(raw: RawDecision, revision: string): DecisionRepeated {
  const kinds = (["allowed", "refused", "held"] as const).filter((kind) => raw[kind] !== null);
  const [kind] = kinds;
  if (kind === undefined || kinds.length > 1) {
    throw new UndecodableError("a repeated decision is not one of allowed, refused and held");
  }
  const decision = decisionFromRaw(raw, kind, revision);
  const { tenantId, conversationId, decisionId } = decision;
  return { type: "repeated", tenantId, conversationId, decisionId, decision };
}

function decisionFromRaw(
  raw: RawDecision,
  kind: DecisionEvent["type"],
  revision: string,
): DecisionEvent {
  const base = withSealed(baseFromRaw(raw, revision), raw);
  switch (kind) {
    case "allowed": {
      const { keyId, occurrence, notAfterMs, timeLimitMs, idempotencyArgument } = part(raw.allowed);
      const { openedAtMs, attempt } = occurrence;
      const opened = { decisionId: occurrence.decisionId ?? raw.decisionId, openedAtMs, attempt };
      const limits = { notAfterMs, timeLimitMs, idempotencyArgument };
      const call = plainCallFacts(part(raw.call), raw.actionKey);
      return { type: kind, ...base, keyId, occurrence: opened, ...limits, call };
    }
    case "refused":
      return filled(base, { type: kind }, refusedFromRaw(part(raw.refused), base));
    case "held": {
      const { holdId, expiresAtMs, requireReason, approvals, holdNumber } = part(raw.held);
      const { ruleDigest, message, rule } = part(raw.held);
      const hold = { holdId, expiresAtMs, requireReason, approvals, holdNumber, ruleDigest };
      const call = plainCallFacts(part(raw.call), raw.actionKey);
      const scope = plainScope(part(raw.held).scope);
      return filled(base, { type: kind }, { ...hold, scope, message, rule, call });
    }
  }
}

/** Members are added one by one: a literal that spreads as many costs several times all the rest. */
function filled<A extends object, B extends object, C extends object>(
  first: A,
  second: B,
  third: C,
): A & B & C {
  return Object.assign(first, second, third);
}

function baseFromRaw(raw: RawDecision, revision: string): DecisionBase {
  return {
    decisionId: raw.decisionId,
    tenantId: raw.tenantId,
    conversationId: raw.conversationId,
    callId: raw.callId,
    agentId: raw.agentId,
    turn: raw.turn,
    step: raw.step,
    tool: raw.tool,
    arguments: raw.arguments,
    argumentsDigest: raw.argumentsDigest,
    actionKey: raw.actionKey,
    atMs: raw.atMs,
    proposalsAtMs: raw.proposalsAtMs,
    policy: raw.policy ?? revision,
    tier: raw.tier,
    isRead: raw.isRead,
    warnings: plainNotices(raw.warnings),
    shadow: plainNotices(raw.shadow),
    fresh: raw.fresh,
    stateDropAtMs: raw.stateDropAtMs,
    entersTurn: raw.entersTurn,
    confirmation: raw.confirmation,
    approvalId: raw.approvalId,
    approvedBy: raw.approvedBy,
    evicted: plainEvicted(raw.evicted),
  };
}

function plainScope({ of, notOf }: RuleScope): RuleScope {
  return { of, notOf };
}

/** Few decisions have any: the others keep the shape that they have in the core. */
function withSealed(base: DecisionBase, { sealed }: RawDecision): DecisionBase {
  return sealed.length === 0 ? base : { ...base, sealed: sealed.map(sealedFromRaw) };
}

function sealedFromRaw({ path, keyId, nonce, sealed }: RawSealed): SealedValue {
  return { path, keyId, nonce: nonce.toString("hex"), sealed: sealed.toString("hex") };
}

type RefusedPart = Omit<CallRefused, "type" | keyof DecisionBase>;

function refusedFromRaw(raw: RawRefused, base: DecisionBase): RefusedPart {
  const { refusal } = raw;
  return {
    refusal: plainRefusal({
      ...refusal,
      decisionId: refusal.decisionId ?? base.decisionId,
      callId: refusal.callId ?? base.callId,
      tool: refusal.tool ?? base.tool,
      arguments: refusal.arguments ?? base.arguments,
      policy: refusal.policy ?? base.policy,
    }),
    strike: strikeFromRaw(raw.strike),
    raised: raisedFromRaw(raw.raised),
    cycle: raw.cycle,
    counted: raw.counted,
    denial: raw.denial === null ? null : { reason: raw.denial.reason },
    answered: answeredFromRaw(raw.answered, base.actionKey),
  };
}

function strikeFromRaw(raw: Strike | null): Strike | null {
  return raw === null ? null : { key: raw.key, count: raw.count, step: raw.step };
}

function raisedFromRaw(raw: Raised | null): Raised | null {
  if (raw === null) return null;
  const { acknowledgement, userInput, ended } = raw;
  return { acknowledgement, userInput, ended: optionalMember(ENDS, ended) };
}

function answeredFromRaw(raw: RawRefused["answered"], actionKey: string): CallRefused["answered"] {
  if (raw === null) return null;
  return { call: plainCallFacts(raw.call, actionKey), outputDigest: raw.outputDigest };
}

function callFromRaw(raw: RawCall): RawCall {
  const { tenantId, conversationId, decisionId, callId, tool, atMs } = raw;
  return { tenantId, conversationId, decisionId, callId, tool, atMs };
}

function resultFromRaw(event: RawEvent) {
  const raw = part(event.result);
  return {
    status: member(STATUSES, raw.status),
    effect: optionalMember(FAILURE_EFFECT_LIST, raw.effect),
    output: raw.output,
    outputDigest: raw.outputDigest,
    outputBytes: raw.outputBytes,
    whole: raw.whole,
    error: plainError(raw.error),
    transient: raw.transient,
    durationMs: raw.durationMs,
    cost: plainMoney(raw.cost),
    evicted: plainEvicted(raw.evicted),
    effects: plainResultEffects(raw.effects),
  };
}

function ruledFromRaw(raw: RawRuling): VerdictRuled {
  return {
    type: "ruled",
    tenantId: raw.tenantId,
    conversationId: raw.conversationId,
    atMs: raw.atMs,
    kind: member(RULINGS, raw.kind),
    approvalId: raw.approvalId,
    decisionId: raw.decisionId,
    tier: raw.tier,
    tool: raw.tool,
    ruleDigest: raw.ruleDigest,
    scope: raw.scope === null ? null : plainScope(raw.scope),
    calls: raw.calls,
    untilMs: raw.untilMs,
    by: raw.by,
    reason: raw.reason,
  };
}

function ignoredFromRaw(raw: NonNullable<RawEvent["ignored"]>): InputIgnored {
  return {
    type: "ignored",
    tenantId: raw.tenantId,
    conversationId: raw.conversationId,
    input: member(IGNORED_INPUTS, raw.input),
    why: member(IGNORED_WHY, raw.why),
    id: raw.id,
  };
}
