/**
 * Exclusive effects in force: which call holds each, and what the outcome of that call does to
 * them.
 */

import { trieDelete, trieGet, trieSet } from "../../collections/trie.ts";
import type { CallAllowed, CallStatus, EffectHolder, ExclusiveEffect } from "../events.ts";
import type { FailureEffect } from "../inputs.ts";
import { LIMITS } from "../limits.ts";
import { reindexed } from "./effect-index.ts";
import type { OpenCall, StateDraft } from "./state.ts";

export function addEffects(state: StateDraft, event: CallAllowed): void {
  const {
    decisionId,
    call: { callId, tool },
    arguments: { actionKey },
    times: { proposalsAtMs: atMs },
    facts: call,
  } = event;
  const { n } = state;
  for (const { resource, kind, ancestors, onFailure, tenantWide } of call.exclusive) {
    const earlier = trieGet(state.effects, resource);
    if (earlier === undefined && state.effects.size >= LIMITS.exclusiveEffects) continue;
    const status = "in_flight";
    const own = { decisionId, callId, tool, kind, actionKey, n, atMs, status } as const;
    const claimant = tenantWide ? state.conversationId : null;
    const holder = { ...own, ancestors: ancestors, onFailure, claimant };
    const holders = earlier === undefined ? [holder] : [holder, ...untilSettled(earlier)];
    putHolders(state, resource, earlier, holders);
  }
}

/**
 * Inserts the effects that the result named where they would be had they been known when the call
 * was allowed.
 */
export function addResultEffects(
  state: StateDraft,
  open: OpenCall,
  effects: readonly ExclusiveEffect[],
): void {
  const { decisionId, callId, tool, actionKey, n, atMs } = open;
  for (const { resource, kind, ancestors, onFailure } of effects) {
    const earlier = trieGet(state.effects, resource);
    const status = "in_flight";
    const own = { decisionId, callId, tool, kind, actionKey, n, atMs, status } as const;
    const holder = { ...own, ancestors: ancestors, onFailure, claimant: null };
    const later = (earlier ?? []).filter((other) => other.n > n);
    const before = (earlier ?? []).filter((other) => other.n <= n);
    putHolders(state, resource, earlier, [...later, holder, ...before]);
  }
}

/**
 * A call that certainly had no effect gives its resources back to the previous holder; one that may
 * have had it remains the holder.
 */
export function tellEffects(state: StateDraft, open: OpenCall, report: EffectReport): void {
  for (const { resource } of open.call.exclusive) {
    const holders = trieGet(state.effects, resource) ?? [];
    const left = holdersAfter(holders, open, report);
    const before = holders.length === 0 ? undefined : holders;
    putHolders(state, resource, before, left.length === 0 ? undefined : left);
  }
}

/** What the outcome of a call says of its effects. */
export interface EffectReport {
  readonly status: CallStatus;
  readonly effect: FailureEffect | null;
}

/** The holders of a resource of the call after its outcome. */
export function holdersAfter(
  holders: readonly EffectHolder[],
  open: OpenCall,
  { status, effect }: EffectReport,
): readonly EffectHolder[] {
  const isFree = status === "not_executed" || (status === "failed" && effect === "none");
  return untilSettled(
    isFree
      ? holders.filter((holder) => holder.decisionId !== open.decisionId)
      : withStatus(holders, open, status),
  );
}

/** Of an action that failed several times the latest attempt alone holds the resource. */
function withStatus(
  holders: readonly EffectHolder[],
  { decisionId, actionKey }: OpenCall,
  status: CallStatus,
): readonly EffectHolder[] {
  const own = holders.find((holder) => holder.decisionId === decisionId);
  return holders
    .filter(
      (other) =>
        other.decisionId === decisionId ||
        !(status === "failed" && other.status === "failed" && other.actionKey === actionKey) ||
        // The same action of another conversation is no attempt of this one.
        (own !== undefined && other.claimant !== own.claimant),
    )
    .map((holder) => (holder.decisionId === decisionId ? { ...holder, status } : holder));
}

function putHolders(
  state: StateDraft,
  resource: string,
  before: readonly EffectHolder[] | undefined,
  after: readonly EffectHolder[] | undefined,
): void {
  state.effects =
    after === undefined
      ? trieDelete(state.effects, resource)
      : trieSet(state.effects, resource, after);
  state.effectIndex = reindexed(state.effectIndex, resource, before, after);
}

/**
 * Holders from the latest to the first that succeeded: the ones before that are replaced for good,
 * the ones after it may prove never to have happened. At the bound the oldest that did not succeed
 * are dropped.
 */
export function untilSettled(holders: readonly EffectHolder[]): readonly EffectHolder[] {
  const at = holders.findIndex(({ status }) => status === "succeeded");
  const left = at < 0 ? holders : holders.slice(0, at + 1);
  const excess = left.length - LIMITS.effectHolders;
  if (excess <= 0) return left;
  const settled = at < 0 ? left.length : at;
  return [...left.slice(0, settled - excess), ...left.slice(settled)];
}
