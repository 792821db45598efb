/**
 * Converts a conversation to data and back: for checkpoints and for the hash of the state.
 *
 * SNAPSHOT-1 equal states give equal data, however they were built: ledgers in their order, tries
 * by key.
 * SNAPSHOT-2 `restoreState(snapshotState(s))` decides and evolves as `s` does.
 */
import { markOf, NO_MARKS, otherMarkOf, tagOf } from "../../collections/bloom-filter.ts";
import { type Ledger, ledgerEntries, ledgerFrom } from "../../collections/ledger.ts";
import { timesFrom, timesList } from "../../collections/times.ts";
import { emptyTrie, type Trie, trieSet, trieSorted } from "../../collections/trie.ts";
import { effectIndexOf } from "./effect-index.ts";
import { indexOf } from "./open-calls.ts";
import {
  ACTION_ROW,
  HOLDER_ROW,
  LAST_WRITES_ROW,
  OPEN_ROW,
  PRIOR_CALL_ROW,
  RECENT_CALL_ROW,
  RETAINED_ROW,
  type RowOf,
  SKETCHED_ROW,
  STRIKE_ROW,
} from "./snapshot-rows.ts";
import { type ConversationState, initialState } from "./state.ts";

/** A state as plain data, which JSON and packed bytes can hold. */
export type StateData = ReturnType<typeof snapshotState>;

/**
 * A change of its contents raises the version of checkpoints in the runtime, so that no older one
 * is read. Entries past their end at the time of the latest proposal are left out. Members without
 * a line of their own are stored unchanged.
 */
export function snapshotState(state: ConversationState) {
  const at = state.lastAtMs;
  const { openIndex: _open, effectIndex: _effects, ...rest } = state;
  const { recentMarks: _marks, recentOtherMarks: _otherMarks, ...members } = rest;
  return {
    ...members,
    tools: trieSorted(state.tools),
    retained: ledgerData(state.retained, RETAINED_ROW, at),
    loose: ledgerData(state.loose, RETAINED_ROW, at),
    priorReads: ledgerData(state.priorReads, PRIOR_CALL_ROW, at),
    priorWrites: ledgerData(state.priorWrites, PRIOR_CALL_ROW, at),
    open: trieSorted(state.open).map(([, call]) => OPEN_ROW.pack(call)),
    doubts: state.doubts.map(OPEN_ROW.pack),
    writes: {
      any: LAST_WRITES_ROW.pack(state.writes.any),
      undeclared: LAST_WRITES_ROW.pack(state.writes.undeclared),
      byResource: ledgerData(state.writes.byResource, LAST_WRITES_ROW, at),
    },
    effects: trieSorted(state.effects).map(
      ([resource, holders]) => [resource, holders.map(HOLDER_ROW.pack)] as const,
    ),
    sketches: ledgerData(state.sketches, SKETCHED_ROW, at),
    recentCalls: state.recentCalls.map(RECENT_CALL_ROW.pack),
    actions: ledgerData(state.actions, ACTION_ROW, at),
    strikes: state.strikes.map(STRIKE_ROW.pack),
    rates: trieSorted(state.rates).map(([key, times]) => [key, timesList(times)] as const),
    grants: trieSorted(state.grants),
    confirmations: trieSorted(state.confirmations),
    manualGrants: trieSorted(state.manualGrants),
    forgotten: trieSorted(state.forgotten),
  };
}

/** The data must come from `snapshotState` of this version: the store checks that by digests. */
export function restoreState(data: StateData): ConversationState {
  const { writes } = data;
  const open = trieFrom(data.open.map((row) => [row[0], OPEN_ROW.unpack(row)] as const));
  const effects = trieFrom(
    data.effects.map(([key, rows]) => [key, rows.map(HOLDER_ROW.unpack)] as const),
  );
  const recentCalls = data.recentCalls.map(RECENT_CALL_ROW.unpack);
  const loopKeys = data.actions.entries.map(([key]) => key);
  return {
    // First, for its order of members: objects of one shape are faster to read.
    ...initialState(data.tenantId, data.conversationId, data.startedAtMs),
    ...data,
    tools: trieFrom(data.tools),
    retained: ledgerOf(data.retained, RETAINED_ROW),
    loose: ledgerOf(data.loose, RETAINED_ROW),
    priorReads: ledgerOf(data.priorReads, PRIOR_CALL_ROW),
    priorWrites: ledgerOf(data.priorWrites, PRIOR_CALL_ROW),
    open,
    openIndex: indexOf(open),
    doubts: data.doubts.map(OPEN_ROW.unpack),
    writes: {
      any: LAST_WRITES_ROW.unpack(writes.any),
      undeclared: LAST_WRITES_ROW.unpack(writes.undeclared),
      byResource: ledgerOf(writes.byResource, LAST_WRITES_ROW),
    },
    effects,
    effectIndex: effectIndexOf(effects),
    sketches: ledgerOf(data.sketches, SKETCHED_ROW),
    recentCalls,
    actions: ledgerOf(data.actions, ACTION_ROW),
    recentMarks: marksOf([...keysOf(recentCalls), ...loopKeys], markOf),
    recentOtherMarks: marksOf([...keysOf(recentCalls), ...loopKeys], otherMarkOf),
    strikes: data.strikes.map(STRIKE_ROW.unpack),
    rates: trieFrom(data.rates.map(([key, times]) => [key, timesFrom(times)] as const)),
    grants: trieFrom(data.grants),
    confirmations: trieFrom(data.confirmations),
    manualGrants: trieFrom(data.manualGrants),
    forgotten: trieFrom(data.forgotten),
  };
}

function keysOf(recentCalls: ConversationState["recentCalls"]): readonly string[] {
  return recentCalls.map(({ loopKey }) => loopKey);
}

function marksOf(loopKeys: readonly string[], mark: (tag: number) => number): number {
  return loopKeys.reduce((marks, one) => marks | mark(tagOf(one)), NO_MARKS);
}

interface LedgerData<R> {
  readonly next: number;
  /** Key, end, order, bytes, row. */
  readonly entries: readonly (readonly [string, number, number, number, R])[];
}

function ledgerData<V, R>(ledger: Ledger<V>, row: RowOf<V, R>, atMs: number): LedgerData<R> {
  const entries: (readonly [string, number, number, number, R])[] = [];
  for (const { key, value, dropAt, order, bytes } of ledgerEntries(ledger)) {
    if (dropAt > atMs) entries.push([key, dropAt, order, bytes, row.pack(value)]);
  }
  return { next: ledger.nextOrder, entries };
}

function ledgerOf<V, R>({ next, entries }: LedgerData<R>, row: RowOf<V, R>): Ledger<V> {
  return ledgerFrom(
    entries.map(([key, dropAt, order, bytes, packed]) => {
      return { key, value: row.unpack(packed), dropAt, order, bytes };
    }),
    next,
  );
}

function trieFrom<V>(entries: readonly (readonly [string, V])[]): Trie<V> {
  let trie: Trie<V> = emptyTrie();
  for (const [key, value] of entries) trie = trieSet(trie, key, value);
  return trie;
}
