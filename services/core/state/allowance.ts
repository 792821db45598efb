/**
 * Rate windows and grants: an allowed call uses them up, and gives them back if it was not
 * executed.
 */

import { NO_TIMES, timesPush, timesWithout } from "../../collections/times.ts";
import { trieGet, trieSet } from "../../collections/trie.ts";
import type { CallFacts } from "../events.ts";
import { LIMITS } from "../limits.ts";
import { afterUse, returnManualGrant } from "./manual-grants.ts";
import type { OpenCall, StateDraft } from "./state.ts";

export function useUp(state: StateDraft, call: CallFacts, atMs: number): void {
  for (const { key, windowMs } of call.rates) {
    const times = trieGet(state.rates, key) ?? NO_TIMES;
    const next = timesPush(times, atMs, atMs - windowMs, LIMITS.rateWindowCalls);
    state.rates = trieSet(state.rates, key, next);
  }
  const manualGrant = call.more?.manualGrant ?? null;
  if (manualGrant !== null) state.manualGrants = afterUse(state.manualGrants, manualGrant);
  if (call.grant === null) return;
  const { tier, expiresAtMs } = call.grant;
  const used = (trieGet(state.grants, tier)?.used ?? 0) + 1;
  state.grants = trieSet(state.grants, tier, { used, expiresAtMs });
}

/** An empty counter stays, because its key was counted. */
export function giveBack(state: StateDraft, { call, atMs, n }: OpenCall): void {
  for (const { key } of call.rates) {
    const times = trieGet(state.rates, key);
    if (times === undefined) continue;
    const left = timesWithout(times, atMs);
    if (left !== times) state.rates = trieSet(state.rates, key, left);
  }
  const manualGrant = call.more?.manualGrant ?? null;
  if (manualGrant !== null)
    state.manualGrants = returnManualGrant(state.manualGrants, manualGrant, n);
  const grant = call.grant === null ? undefined : trieGet(state.grants, call.grant.tier);
  if (call.grant === null || grant === undefined) return;
  const used = Math.max(0, grant.used - 1);
  state.grants = trieSet(state.grants, call.grant.tier, { ...grant, used });
}
