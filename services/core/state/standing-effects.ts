/** Exclusive effects that stand: by whom, and what becomes of them with the outcome of the call. */
import type { CallAllowed, CallStatus, ExclusiveEffect } from "../events.ts";
import { LIMITS } from "../limits.ts";
import { trieDelete, trieGet, trieSet } from "../persistent/trie.ts";
import type { EffectHolder } from "./effect-holder.ts";
import { reindexed } from "./effect-index.ts";
import type { OpenCall, StateDraft } from "./state.ts";

export function addEffects(state: StateDraft, event: CallAllowed): void {
  const { decisionId, callId, tool, actionKey, proposalsAtMs: atMs, call } = event;
  const { n } = state;
  for (const { resource, kind, wholes } of call.exclusive) {
    const earlier = trieGet(state.effects, resource);
    if (earlier === undefined && state.effects.size >= LIMITS.exclusiveEffects) continue;
    const status = "in_flight";
    const holder = { decisionId, callId, tool, kind, actionKey, n, atMs, status, wholes } as const;
    const holders = earlier === undefined ? [holder] : [holder, ...untilSettled(earlier)];
    putHolders(state, resource, earlier, holders);
  }
}

/** Those that the result named stand where they would, had they been known as the call was allowed. */
export function addNamedEffects(
  state: StateDraft,
  open: OpenCall,
  effects: readonly ExclusiveEffect[],
): void {
  const { decisionId, callId, tool, actionKey, n, atMs } = open;
  for (const { resource, kind, wholes } of effects) {
    const earlier = trieGet(state.effects, resource);
    const status = "in_flight";
    const holder = { decisionId, callId, tool, kind, actionKey, n, atMs, status, wholes } as const;
    const later = (earlier ?? []).filter((other) => other.n > n);
    const before = (earlier ?? []).filter((other) => other.n <= n);
    putHolders(state, resource, earlier, [...later, holder, ...before]);
  }
}

/**
 * What definitely did not happen gives its resources back to whoever had them before; what may have
 * happened holds them.
 */
export function tellEffects(
  state: StateDraft,
  open: OpenCall,
  told: { readonly status: CallStatus; readonly transient: boolean },
): void {
  for (const { resource } of open.call.exclusive) {
    const holders = trieGet(state.effects, resource) ?? [];
    const free = told.status === "not_executed" || (told.status === "failed" && !told.transient);
    const left = free
      ? holders.filter((holder) => holder.decisionId !== open.decisionId)
      : holders.map((holder) =>
          holder.decisionId === open.decisionId ? { ...holder, status: told.status } : holder,
        );
    const before = holders.length === 0 ? undefined : holders;
    putHolders(state, resource, before, left.length === 0 ? undefined : untilSettled(left));
  }
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
 * Holders from the latest to the first whose outcome is certain: those before it are replaced for
 * good, those after it may turn out never to have happened.
 */
function untilSettled(holders: readonly EffectHolder[]): readonly EffectHolder[] {
  const at = holders.findIndex(({ status }) => status === "succeeded" || status === "failed");
  return at < 0 ? holders : holders.slice(0, at + 1);
}
