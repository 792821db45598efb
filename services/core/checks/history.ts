/**
 * Bounds the history that duplicates are compared with: where it is full of writes that must not be
 * forgotten, a new write could not be distinguished from a repeat. For reads the gate makes room
 * instead (`decide/make-room.ts`).
 */

import { type Ledger, ledgerFirst, ledgerGet, ledgerIsFull } from "../../collections/ledger.ts";
import { trieGet, trieVisit } from "../../collections/trie.ts";
import { LIMITS } from "../limits.ts";
import type { ConversationState, PriorCall } from "../state/state.ts";
import { roomForTool } from "../state/turn.ts";
import { isUnlimited } from "./budgets.ts";
import { type CallContext, defineCheck, type Finding, finding, NOTHING } from "./check.ts";

export const historyCheck = defineCheck("history", { find: findFullMemory });

function findFullMemory(call: CallContext): readonly Finding[] {
  const full = fullTotals(call) ?? fullCollection(call);
  if (full === null) return NOTHING;
  return [
    finding({
      reason: "history_full",
      rule: "limits",
      disposition: "ask_user",
      detail: `The gate remembers as many ${full} of this conversation as it can.`,
    }),
  ];
}

/** A tool without a counter would have no budget of its own. */
function fullTotals({ policy, state, proposal }: CallContext): string | null {
  if (isUnlimited(policy.budgets.tool) || state.tools.size < LIMITS.counters) return null;
  if (trieGet(state.tools, proposal.tool) !== undefined) return null;
  return roomForTool(state).size < LIMITS.counters ? null : "tools in one turn";
}

/**
 * The collection that has no room for one more call, or null. It compares sizes first, which is
 * cheap.
 */
function fullCollection({ state, tool, facts, nowMs }: CallContext): string | null {
  if (state.open.size >= LIMITS.openCalls) return "calls without a result";
  if (tool.isRead) return null;
  if (fullNames(state, nowMs)) return "call names";
  if (fullEffects(state, facts.exclusive.length)) return "exclusive effects";
  if (ledgerIsFull(state.priorWrites, LIMITS.priorWrites, Infinity, nowMs)) {
    const first = firstOf(state.priorWrites, nowMs);
    if (first !== undefined && mustStay(first, nowMs)) return "writes";
  }
  return fullResources(state, facts.resources?.length ?? 0, nowMs) ? "changed resources" : null;
}

/** Whether there is room for neither a decision nor the name of another write. */
function fullNames({ retained, forgotten }: ConversationState, nowMs: number): boolean {
  if (forgotten.size < LIMITS.forgottenNames) return false;
  return ledgerIsFull(retained, LIMITS.callNames, LIMITS.callNameBytes, nowMs);
}

/**
 * Effects that results will still name need room, too; they are counted only once room may run
 * short.
 */
function fullEffects({ effects, open }: ConversationState, added: number): boolean {
  let effectCount = effects.size + Math.max(added, 1);
  if (2 * effectCount < LIMITS.exclusiveEffects) return false;
  trieVisit(open, ({ call }) => {
    effectCount += call.more?.pending.filter(({ exclusive }) => exclusive).length ?? 0;
    return false;
  });
  return effectCount > LIMITS.exclusiveEffects;
}

function mustStay({ status, windowUntilMs }: PriorCall, nowMs: number): boolean {
  return status === "in_flight" || status === "unknown" || windowUntilMs > nowMs;
}

function fullResources({ writes }: ConversationState, added: number, nowMs: number): boolean {
  const most = LIMITS.resources - Math.max(added, 1) + 1;
  if (!ledgerIsFull(writes.byResource, most, Infinity, nowMs)) return false;
  return (firstOf(writes.byResource, nowMs)?.windowUntilMs ?? 0) > nowMs;
}

/** The entry that would be dropped first. */
function firstOf<V>(ledger: Ledger<V>, nowMs: number): V | undefined {
  const key = ledgerFirst(ledger);
  return key === undefined ? undefined : ledgerGet(ledger, key, nowMs);
}
