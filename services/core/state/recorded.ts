/**
 * Decisions member by member, in a fixed order: so equal states give equal snapshots whether their
 * events were decided in this process or read from the journal, where members may come in another
 * order.
 */
import type {
  CallFacts,
  CallHeld,
  CallMore,
  CallRefused,
  DecisionBase,
  Evicted,
  Notice,
  PreviousCall,
  PreviousResult,
  Refusal,
  SealedValue,
} from "../events.ts";

export function recorded<E extends CallHeld | CallRefused>(event: E): E;
export function recorded(event: CallHeld | CallRefused): CallHeld | CallRefused {
  return event.type === "held" ? recordedHeld(event) : recordedRefused(event);
}

function recordedBase(base: DecisionBase): DecisionBase {
  return {
    decisionId: base.decisionId,
    tenantId: base.tenantId,
    conversationId: base.conversationId,
    callId: base.callId,
    agentId: base.agentId,
    turn: base.turn,
    step: base.step,
    tool: base.tool,
    arguments: base.arguments,
    argumentsDigest: base.argumentsDigest,
    actionKey: base.actionKey,
    atMs: base.atMs,
    proposalsAtMs: base.proposalsAtMs,
    policy: base.policy,
    tier: base.tier,
    isRead: base.isRead,
    warnings: recordedNotices(base.warnings),
    shadow: recordedNotices(base.shadow),
    fresh: base.fresh,
    stateDropAtMs: base.stateDropAtMs,
    entersTurn: base.entersTurn,
    confirmation: base.confirmation,
    approvalId: base.approvalId,
    approvedBy: base.approvedBy,
    evicted: base.evicted === null ? null : recordedEvicted(base.evicted),
  };
}

function recordedHeld(event: CallHeld): CallHeld {
  const base = recordedBase(event);
  const { sealed } = event;
  return Object.assign(
    sealed === undefined ? base : { ...base, sealed: sealed.map(recordedSealed) },
    {
      type: event.type,
      holdId: event.holdId,
      expiresAtMs: event.expiresAtMs,
      requireReason: event.requireReason,
      approvals: event.approvals,
      holdNumber: event.holdNumber,
      ruleDigest: event.ruleDigest,
      scope: { of: event.scope.of, notOf: event.scope.notOf },
      message: event.message,
      rule: event.rule,
      call: recordedFacts(event.call),
    },
  );
}

function recordedSealed({ path, keyId, nonce, sealed }: SealedValue): SealedValue {
  return { path, keyId, nonce, sealed };
}

function recordedRefused(event: CallRefused): CallRefused {
  const { strike, raised, answered } = event;
  return Object.assign(recordedBase(event), {
    type: event.type,
    refusal: recordedRefusal(event.refusal),
    strike: strike === null ? null : recordedStrike(strike),
    raised:
      raised === null
        ? null
        : {
            acknowledgement: raised.acknowledgement,
            userInput: raised.userInput,
            ended: raised.ended,
          },
    cycle: event.cycle,
    counted: event.counted,
    denial: event.denial === null ? null : { reason: event.denial.reason },
    answered:
      answered === null
        ? null
        : { call: recordedFacts(answered.call), outputDigest: answered.outputDigest },
  });
}

function recordedStrike(strike: NonNullable<CallRefused["strike"]>) {
  return { key: strike.key, count: strike.count, step: strike.step };
}

function recordedFacts(call: CallFacts): CallFacts {
  return {
    twinKey: call.twinKey,
    resources: call.resources,
    exclusive: recordedExclusive(call.exclusive),
    windowUntilMs: call.windowUntilMs,
    dropAtMs: call.dropAtMs,
    ringSize: call.ringSize,
    repeats: call.repeats,
    rates: recordedRates(call.rates),
    grant:
      call.grant === null ? null : { tier: call.grant.tier, expiresAtMs: call.grant.expiresAtMs },
    more: recordedMore(call.more),
  };
}

export function recordedMore(more: CallMore | null): CallMore | null {
  if (more === null) return null;
  const { cost, given, pending, sketches } = more;
  return {
    cost: cost === null ? null : { microUnits: cost.microUnits, currency: cost.currency },
    given,
    pending: pending.map(({ resource, kind, exclusive, rule, onFailure }) => ({
      resource,
      kind,
      exclusive,
      rule,
      onFailure,
    })),
    sketches: sketches.map(({ key, values }) => ({ key, values })),
  };
}

export function recordedExclusive(effects: CallFacts["exclusive"]): CallFacts["exclusive"] {
  return effects.map(({ resource, kind, rule, wholes, onFailure }) => ({
    resource,
    kind,
    rule,
    wholes,
    onFailure,
  }));
}

export function recordedRates(rates: CallFacts["rates"]): CallFacts["rates"] {
  return rates.map(({ key, windowMs }) => ({ key, windowMs }));
}

export function recordedNotices(notices: readonly Notice[]): readonly Notice[] {
  return notices.map(({ reason, message, rule }) => ({ reason, message, rule }));
}

function recordedEvicted({ reads, names, writes, resources }: Evicted): Evicted {
  return { reads, names, writes, resources };
}

function recordedRefusal(refusal: Refusal): Refusal {
  const { previousCall, previousResult, conflict, resolution } = refusal;
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
    previousCall: previousCall === null ? null : recordedPrevious(previousCall),
    previousResult: previousResult === null ? null : recordedResult(previousResult),
    conflict: conflict === null ? null : { resource: conflict.resource, path: conflict.path },
    resolution: {
      type: resolution.type,
      retryAfterMs: resolution.retryAfterMs,
      approvalId: resolution.approvalId,
    },
    suggestedNext: refusal.suggestedNext,
    problems: refusal.problems.map(({ path, message }) => ({ path, message })),
    known:
      refusal.known?.map(({ ref, tool, atMs, digest }) => ({ ref, tool, atMs, digest })) ?? null,
    userMessage: refusal.userMessage,
  };
}

function recordedPrevious(call: PreviousCall): PreviousCall {
  const { callId, decisionId, tool, atMs, status } = call;
  return { callId, decisionId, tool, atMs, status };
}

function recordedResult(result: PreviousResult): PreviousResult {
  const { digest, bytes } = result;
  return "inline" in result
    ? { inline: result.inline, digest, bytes }
    : { ref: result.ref, digest, bytes };
}
