/**
 * What kept decisions have in common: most of what a decision says follows from policy and tool, and
 * is kept once for all calls of which it is true. Times are kept as their distance from the decision.
 */
import type { CallAllowed, Evicted, Notice } from "../events.ts";

export interface KeptTerms {
  readonly proposalsAfter: number;
  readonly policy: string;
  readonly tier: string | null;
  readonly isRead: boolean;
  readonly warnings: readonly Notice[];
  readonly shadow: readonly Notice[];
  readonly fresh: boolean;
  readonly stateDropAfter: number;
  readonly entersTurn: boolean;
  readonly confirmation: string | null;
  readonly approvalId: string | null;
  readonly approvedBy: readonly string[];
  readonly evicted: Evicted | null;
  readonly keyId: string;
  readonly notAfter: number;
  readonly timeLimitMs: number;
  readonly idempotencyArgument: string | null;
  readonly windowUntilAfter: number;
  readonly dropAfter: number;
  readonly ringSize: number;
  readonly repeats: number;
  readonly rates: CallAllowed["call"]["rates"];
  readonly grant: CallAllowed["call"]["grant"];
  readonly more: CallAllowed["call"]["more"];
}

/** Terms that were met last, by what tells most tools' apart; others take their place. */
const PLACES = 64;
const met: (KeptTerms | undefined)[] = new Array(PLACES).fill(undefined);

/** The terms of a decision. */
export function keptTerms(event: CallAllowed): KeptTerms {
  const { atMs, call } = event;
  return sharedTerms({
    proposalsAfter: distance(atMs, event.proposalsAtMs),
    policy: event.policy,
    tier: event.tier,
    isRead: event.isRead,
    warnings: event.warnings,
    shadow: event.shadow,
    fresh: event.fresh,
    stateDropAfter: distance(atMs, event.stateDropAtMs),
    entersTurn: event.entersTurn,
    confirmation: event.confirmation,
    approvalId: event.approvalId,
    approvedBy: event.approvedBy,
    evicted: event.evicted,
    keyId: event.keyId,
    notAfter: distance(atMs, event.notAfterMs),
    timeLimitMs: event.timeLimitMs,
    idempotencyArgument: event.idempotencyArgument,
    windowUntilAfter: distance(atMs, call.windowUntilMs),
    dropAfter: distance(atMs, call.dropAtMs),
    ringSize: call.ringSize,
    repeats: call.repeats,
    rates: call.rates,
    grant: call.grant,
    more: call.more,
  });
}

/** The same terms met before, or these. */
export function sharedTerms(terms: KeptTerms): KeptTerms {
  if (!isPlain(terms)) return terms;
  const place = placeOf(terms);
  const known = met[place];
  if (known !== undefined && areSame(known, terms)) return known;
  met[place] = terms;
  return terms;
}

/** As a small integer where it is one: what comes of arithmetic with times would each be boxed. */
function distance(fromMs: number, toMs: number): number {
  const apart = toMs - fromMs;
  const small = apart | 0;
  return small === apart ? small : apart;
}

/** Nothing in it is of one call alone. */
function isPlain(terms: KeptTerms): boolean {
  return (
    terms.confirmation === null &&
    terms.approvalId === null &&
    terms.evicted === null &&
    terms.grant === null &&
    terms.more === null &&
    terms.repeats === 0 &&
    terms.warnings.length === 0 &&
    terms.shadow.length === 0 &&
    terms.approvedBy.length === 0 &&
    terms.rates.length === 0
  );
}

function placeOf(terms: KeptTerms): number {
  const flags = (terms.isRead ? 1 : 0) + (terms.fresh ? 2 : 0) + (terms.entersTurn ? 4 : 0);
  const lengths = terms.windowUntilAfter ^ (terms.timeLimitMs * 7) ^ (terms.notAfter * 31);
  return ((lengths * 8) ^ flags ^ (lengths >>> 3)) & (PLACES - 1);
}

function areSame(a: KeptTerms, b: KeptTerms): boolean {
  return (
    a.proposalsAfter === b.proposalsAfter &&
    a.policy === b.policy &&
    a.tier === b.tier &&
    a.isRead === b.isRead &&
    a.fresh === b.fresh &&
    a.stateDropAfter === b.stateDropAfter &&
    a.entersTurn === b.entersTurn &&
    a.keyId === b.keyId &&
    a.notAfter === b.notAfter &&
    a.timeLimitMs === b.timeLimitMs &&
    a.idempotencyArgument === b.idempotencyArgument &&
    a.windowUntilAfter === b.windowUntilAfter &&
    a.dropAfter === b.dropAfter &&
    a.ringSize === b.ringSize
  );
}
