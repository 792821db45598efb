/**
 * A decision as the state retains it, to answer a proposal that is delivered again: without what the
 * proposal brings again. Equal decision ids mean equal names and equal texts. Most decisions are to allow
 * a call, so those are retained in few members, and what calls of one policy have in common only once.
 */
import type { DecidedCall, DecidedPolicy, Decision } from "../decision.ts";
import type {
  CallAllowed,
  CallFacts,
  CallHeld,
  CallRefused,
  DecisionEvent,
  Execution,
} from "../events.ts";

export type RetainedDecision = RetainedAllowed | CallHeld | CallRefused;

export interface RetainedAllowed {
  readonly type: "allowed";
  readonly decisionId: string;
  readonly agentId: string | null;
  /** Null: the digest of the arguments. */
  readonly actionKey: string | null;
  readonly atMs: number;
  /** The conversation lapses so many ms after `atMs`. */
  readonly dropAfterMs: number;
  readonly fresh: boolean;
  /** Null: the decision opened its execution. */
  readonly execution: Execution | null;
  readonly priorKey: string;
  readonly resources: readonly string[] | null;
  readonly terms: CallTerms;
  readonly rare: RareParts | null;
}

/** What most allowed calls of a conversation have in common. Times are in ms after `atMs`. */
export interface CallTerms extends DecidedPolicy {
  readonly keyId: string;
  readonly idempotencyArgument: string | null;
  readonly proposalsAfterMs: number;
  readonly notAfterMs: number;
  readonly timeLimitMs: number;
  readonly windowMs: number;
  readonly factsDropAfterMs: number;
  readonly recentCallsMax: number;
  readonly rates: CallFacts["rates"];
}

/** What few allowed calls have. */
export interface RareParts
  extends Pick<Decision, "notices" | "approval">,
    Pick<Decision["conversation"], "entersTurn" | "confirmation" | "evicted">,
    Pick<Decision["arguments"], "sealed">,
    Pick<CallFacts, "exclusive" | "repeats" | "grant" | "more"> {}

/** What a proposal that is delivered again brings. */
export interface Redelivered {
  readonly tenantId: string;
  readonly conversationId: string;
  readonly call: Omit<DecidedCall, "agentId">;
  readonly text: string;
  readonly digest: string;
}

const NOTHING_RARE: RareParts = {
  notices: { warnings: [], shadow: [] },
  approval: { approvalId: null, approvedBy: [] },
  entersTurn: true,
  confirmation: null,
  evicted: null,
  sealed: [],
  exclusive: [],
  repeats: 0,
  grant: null,
  more: null,
};

/** @param terms of the call, or equal ones of an earlier call */
export function keepDecision(decision: DecisionEvent, terms: CallTerms | null): RetainedDecision {
  if (decision.type !== "allowed") return withText(decision, "");
  const { facts, execution, conversation } = decision;
  const { digest, actionKey } = decision.arguments;
  const { atMs } = decision.times;
  return {
    type: "allowed",
    decisionId: decision.decisionId,
    agentId: decision.call.agentId,
    actionKey: actionKey === digest ? null : actionKey,
    atMs,
    dropAfterMs: msBetween(atMs, conversation.dropAtMs),
    fresh: conversation.fresh,
    execution: isOwn(decision) ? null : execution,
    priorKey: facts.priorKey,
    resources: facts.resources,
    terms: terms ?? termsOf(decision),
    rare: hasRareParts(decision) ? rarePartsOf(decision) : null,
  };
}

function isOwn({ decisionId, execution, times }: CallAllowed): boolean {
  const { attempt, openedAtMs } = execution;
  return attempt === 1 && openedAtMs === times.atMs && execution.decisionId === decisionId;
}

export function termsOf(decision: CallAllowed): CallTerms {
  const { policy, facts } = decision;
  const { atMs, proposalsAtMs } = decision.times;
  return {
    revision: policy.revision,
    tier: policy.tier,
    tierRule: policy.tierRule,
    isRead: policy.isRead,
    keyId: decision.keyId,
    idempotencyArgument: decision.idempotencyArgument,
    proposalsAfterMs: msBetween(atMs, proposalsAtMs),
    notAfterMs: msBetween(atMs, decision.notAfterMs),
    timeLimitMs: decision.timeLimitMs,
    windowMs: msBetween(atMs, facts.windowUntilMs),
    factsDropAfterMs: msBetween(atMs, facts.dropAtMs),
    recentCallsMax: facts.recentCallsMax,
    rates: facts.rates,
  };
}

export function areSame(one: CallTerms, other: CallTerms): boolean {
  return (
    one.tierRule === other.tierRule &&
    one.isRead === other.isRead &&
    one.windowMs === other.windowMs &&
    one.factsDropAfterMs === other.factsDropAfterMs &&
    one.notAfterMs === other.notAfterMs &&
    one.timeLimitMs === other.timeLimitMs &&
    one.proposalsAfterMs === other.proposalsAfterMs &&
    one.recentCallsMax === other.recentCallsMax &&
    one.idempotencyArgument === other.idempotencyArgument &&
    one.tier === other.tier &&
    one.keyId === other.keyId &&
    one.revision === other.revision &&
    areSameRates(one.rates, other.rates)
  );
}

function areSameRates(one: CallTerms["rates"], other: CallTerms["rates"]): boolean {
  if (one === other) return true;
  const isSame = ({ key, windowMs }: CallTerms["rates"][number], at: number): boolean =>
    other[at]?.key === key && other[at].windowMs === windowMs;
  return one.length === other.length && one.every(isSame);
}

function hasRareParts(decision: CallAllowed): boolean {
  const { notices, conversation, facts } = decision;
  return (
    notices.warnings.length > 0 ||
    notices.shadow.length > 0 ||
    decision.approval.approvalId !== null ||
    !conversation.entersTurn ||
    conversation.confirmation !== null ||
    conversation.evicted !== null ||
    decision.arguments.sealed.length > 0 ||
    facts.exclusive.length > 0 ||
    facts.repeats > 0 ||
    facts.grant !== null ||
    facts.more !== null
  );
}

function rarePartsOf(decision: CallAllowed): RareParts {
  const { notices, approval, conversation, facts } = decision;
  return {
    notices,
    approval,
    entersTurn: conversation.entersTurn,
    confirmation: conversation.confirmation,
    evicted: conversation.evicted,
    sealed: decision.arguments.sealed,
    exclusive: facts.exclusive,
    repeats: facts.repeats,
    grant: facts.grant,
    more: facts.more,
  };
}

/**
 * The time between two moments, ms. The operator on bits makes it a number that needs no box of its own; few are
 * too long for that.
 */
function msBetween(fromMs: number, toMs: number): number {
  const ms = toMs - fromMs;
  return ms === (ms | 0) ? ms | 0 : ms;
}

/** Restores the decision as it was made. */
export function recallDecision(
  retained: RetainedDecision,
  redelivered: Redelivered,
): DecisionEvent {
  if (retained.type !== "allowed") return withText(retained, redelivered.text);
  const { decisionId, agentId, atMs, terms, execution } = retained;
  const { tenantId, conversationId, text, digest } = redelivered;
  const { callId, turn, step, tool } = redelivered.call;
  const { revision, tier, tierRule, isRead } = terms;
  const rare = retained.rare ?? NOTHING_RARE;
  const { entersTurn, confirmation, evicted } = rare;
  const dropAtMs = atMs + retained.dropAfterMs;
  return {
    type: "allowed",
    ...{ decisionId, tenantId, conversationId, call: { callId, agentId, turn, step, tool } },
    arguments: { text, digest, actionKey: retained.actionKey ?? digest, sealed: rare.sealed },
    policy: { revision, tier, tierRule, isRead },
    notices: rare.notices,
    times: { atMs, proposalsAtMs: atMs + terms.proposalsAfterMs },
    conversation: { fresh: retained.fresh, dropAtMs, entersTurn, confirmation, evicted },
    approval: rare.approval,
    keyId: terms.keyId,
    execution: execution ?? { decisionId, openedAtMs: atMs, attempt: 1 },
    notAfterMs: atMs + terms.notAfterMs,
    timeLimitMs: terms.timeLimitMs,
    idempotencyArgument: terms.idempotencyArgument,
    facts: recallFacts(retained, rare),
  };
}

function recallFacts(
  { atMs, terms, priorKey, resources }: RetainedAllowed,
  { exclusive, repeats, grant, more }: RareParts,
): CallFacts {
  const { recentCallsMax, rates } = terms;
  const windowUntilMs = atMs + terms.windowMs;
  const dropAtMs = atMs + terms.factsDropAfterMs;
  const rest = { recentCallsMax, repeats, rates, grant, more };
  return { priorKey, resources, exclusive, windowUntilMs, dropAtMs, ...rest };
}

function withText<D extends CallHeld | CallRefused>(decision: D, text: string): D {
  return { ...decision, arguments: { ...decision.arguments, text } };
}
