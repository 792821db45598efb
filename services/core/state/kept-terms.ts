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

/** The terms of a decision. */
export function keptTerms(event: CallAllowed): KeptTerms {
  const { atMs, call } = event;
  return {
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
  };
}

/** As a small integer where it is one: what comes of arithmetic with times would each be boxed. */
function distance(fromMs: number, toMs: number): number {
  const apart = toMs - fromMs;
  const small = apart | 0;
  return small === apart ? small : apart;
}
