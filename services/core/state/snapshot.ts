/**
 * Converts a conversation to data and back: for checkpoints and for the hash of the state.
 *
 * SNAPSHOT-1 equal states give equal data, however they were built: ledgers in their order, tries
 * by key.
 * SNAPSHOT-2 `restoreState(snapshotState(s))` decides and evolves as `s` does.
 * SNAPSHOT-3 a restored state takes no more memory than one that was evolved: records of one shape, and
 * what states share.
 */
import { markOf, NO_MARKS, otherMarkOf, tagOf } from "../../collections/bloom-filter.ts";
import {
  emptyLedger,
  type Ledger,
  ledgerEntries,
  ledgerFrom,
  ledgerGet,
} from "../../collections/ledger.ts";
import { timesFrom, timesList } from "../../collections/times.ts";
import { emptyTrie, type Trie, trieSet, trieSorted } from "../../collections/trie.ts";
import { draftOf } from "./draft.ts";
import { effectIndexOf } from "./effect-index.ts";
import { indexOf } from "./open-calls.ts";
import { RetainedPacker, type RetainedRow, TERMS_ROW, unpackRetained } from "./retained-rows.ts";
import {
  ACTION_ROW,
  HOLDER_ROW,
  OPEN_ROW,
  PRIOR_CALL_ROW,
  RECENT_CALL_ROW,
  SKETCHED_ROW,
  STRIKE_ROW,
} from "./snapshot-rows.ts";
import {
  type ConversationState,
  initialState,
  NOTHING,
  NOTHING_WRITTEN,
  type RecentCall,
} from "./state.ts";
import {
  FLAGS_ROW,
  HELD_TIME_ROW,
  LAST_WRITES_ROW,
  TOOL_ROW,
  TOTALS_ROW,
  TURN_ROW,
} from "./totals-rows.ts";

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
  const decisions = new RetainedPacker(state.terms);
  const retained = ledgerData(state.retained, decisions.pack, at);
  const loose = ledgerData(state.loose, decisions.pack, at);
  return {
    ...members,
    turn: TURN_ROW.pack(state.turn),
    totals: TOTALS_ROW.pack(state.totals),
    tools: trieData(state.tools, TOOL_ROW.pack),
    retained,
    loose,
    // The first of them are those of the state itself.
    terms: [state.terms.length, decisions.terms.map(TERMS_ROW.pack)] as const,
    priorReads: ledgerData(state.priorReads, PRIOR_CALL_ROW.pack, at),
    priorWrites: ledgerData(state.priorWrites, PRIOR_CALL_ROW.pack, at),
    open: trieData(state.open, OPEN_ROW.pack),
    doubts: state.doubts.map(OPEN_ROW.pack),
    writes: writesData(state.writes, at),
    effects: trieData(state.effects, (holders) => holders.map(HOLDER_ROW.pack)),
    sketches: ledgerData(state.sketches, SKETCHED_ROW.pack, at),
    recentCalls: state.recentCalls.map((call) => recentData(state, call)),
    actions: ledgerData(state.actions, ACTION_ROW.pack, at),
    strikes: state.strikes.map(STRIKE_ROW.pack),
    flags: FLAGS_ROW.pack(state.flags),
    rates: trieData(state.rates, timesList),
    grants: trieData(state.grants, asItIs),
    confirmations: trieData(state.confirmations, asItIs),
    heldTime: HELD_TIME_ROW.pack(state.heldTime),
    manualGrants: trieData(state.manualGrants, asItIs),
    forgotten: trieData(state.forgotten, asItIs),
  };
}

function writesData({ any, undeclared, byResource }: ConversationState["writes"], atMs: number) {
  if (any.doneN === 0 && byResource.nextOrder === 0) return null;
  const { pack } = LAST_WRITES_ROW;
  return [pack(any), pack(undeclared), ledgerData(byResource, pack, atMs)] as const;
}

/** A call that is listed among those of its action as well is stored there. */
function recentData({ actions }: ConversationState, call: RecentCall) {
  const isListed = ledgerGet(actions, call.loopKey, 0)?.some(({ n }) => n === call.n) === true;
  return isListed ? call.n : RECENT_CALL_ROW.pack(call);
}

/** The data must come from `snapshotState` of this version: the store checks that by digests. */
export function restoreState(data: StateData): ConversationState {
  const { tenantId, conversationId, startedAtMs } = data;
  const open = trieOf(data.open, OPEN_ROW.unpack);
  const effects = trieOf(data.effects, (rows) => rows.map(HOLDER_ROW.unpack));
  const actions = ledgerOf(data.actions, ACTION_ROW.unpack);
  const recentCalls = restoreRecentCalls(data.recentCalls, actions);
  const [count, rows] = data.terms;
  const terms = rows.map(TERMS_ROW.unpack);
  const decision = (row: RetainedRow) => unpackRetained(row, terms);
  // Copied for its order of members, and into one object of its size (see draft.ts).
  return draftOf({
    ...initialState(tenantId, conversationId, startedAtMs),
    ...data,
    turn: TURN_ROW.unpack(data.turn),
    totals: TOTALS_ROW.unpack(data.totals),
    tools: trieOf(data.tools, TOOL_ROW.unpack),
    retained: ledgerOf(data.retained, decision),
    loose: ledgerOf(data.loose, decision),
    terms: listOf(terms.slice(0, count)),
    priorReads: ledgerOf(data.priorReads, PRIOR_CALL_ROW.unpack),
    priorWrites: ledgerOf(data.priorWrites, PRIOR_CALL_ROW.unpack),
    open,
    openIndex: indexOf(open),
    doubts: listOf(data.doubts.map(OPEN_ROW.unpack)),
    writes: restoreWrites(data.writes),
    effects,
    effectIndex: effectIndexOf(effects),
    sketches: ledgerOf(data.sketches, SKETCHED_ROW.unpack),
    recentCalls,
    actions,
    ...restoreMarks(recentCalls, actions),
    strikes: listOf(data.strikes.map(STRIKE_ROW.unpack)),
    flags: FLAGS_ROW.unpack(data.flags),
    rates: trieOf(data.rates, timesFrom),
    grants: trieOf(data.grants, asItIs),
    confirmations: trieOf(data.confirmations, asItIs),
    heldTime: HELD_TIME_ROW.unpack(data.heldTime),
    manualGrants: trieOf(data.manualGrants, asItIs),
    denials: listOf(data.denials),
    forgotten: trieOf(data.forgotten, asItIs),
  });
}

function restoreWrites(data: StateData["writes"]): ConversationState["writes"] {
  if (data === null) return NOTHING_WRITTEN;
  const { unpack } = LAST_WRITES_ROW;
  const [any, undeclared, byResource] = data;
  return {
    any: unpack(any),
    undeclared: unpack(undeclared),
    byResource: ledgerOf(byResource, unpack),
  };
}

function restoreRecentCalls(
  data: StateData["recentCalls"],
  actions: ConversationState["actions"],
): readonly RecentCall[] {
  const listed = new Map<number, RecentCall>();
  for (const { value } of ledgerEntries(actions))
    for (const call of value) listed.set(call.n, call);
  return data.map((call) =>
    typeof call === "number" ? (listed.get(call) as RecentCall) : RECENT_CALL_ROW.unpack(call),
  );
}

function restoreMarks(
  recentCalls: readonly RecentCall[],
  actions: ConversationState["actions"],
): Pick<ConversationState, "recentMarks" | "recentOtherMarks"> {
  let recentMarks = NO_MARKS;
  let recentOtherMarks = NO_MARKS;
  const mark = (loopKey: string): void => {
    const tag = tagOf(loopKey);
    recentMarks |= markOf(tag);
    recentOtherMarks |= otherMarkOf(tag);
  };
  for (const { loopKey } of recentCalls) mark(loopKey);
  for (const { key } of ledgerEntries(actions)) mark(key);
  return { recentMarks, recentOtherMarks };
}

function asItIs<T>(value: T): T {
  return value;
}

function listOf<T>(list: readonly T[]): readonly T[] {
  return list.length === 0 ? NOTHING : list;
}

/** Key, end, order, bytes, row. */
type EntryData<R> = readonly [string, number, number, number, R];

/** The next order, then the entries; null: there never was one. */
type LedgerData<R> = readonly [number, readonly EntryData<R>[]] | null;

function ledgerData<V, R>(ledger: Ledger<V>, pack: (value: V) => R, atMs: number): LedgerData<R> {
  if (ledger.nextOrder === 0) return null;
  const entries: EntryData<R>[] = [];
  for (const { key, value, dropAt, order, bytes } of ledgerEntries(ledger)) {
    if (dropAt > atMs) entries.push([key, dropAt, order, bytes, pack(value)]);
  }
  return [ledger.nextOrder, entries];
}

function ledgerOf<V, R>(data: LedgerData<R>, unpack: (row: R) => V): Ledger<V> {
  if (data === null) return emptyLedger();
  const [next, entries] = data;
  return ledgerFrom(
    entries.map(([key, dropAt, order, bytes, row]) => {
      return { key, value: unpack(row), dropAt, order, bytes };
    }),
    next,
  );
}

type TrieData<R> = readonly (readonly [string, R])[];

function trieData<V, R>(trie: Trie<V>, pack: (value: V) => R): TrieData<R> {
  if (trie.size === 0) return NOTHING;
  return trieSorted(trie).map(([key, value]) => [key, pack(value)] as const);
}

function trieOf<V, R>(data: TrieData<R>, unpack: (row: R) => V): Trie<V> {
  let trie: Trie<V> = emptyTrie();
  for (const [key, row] of data) trie = trieSet(trie, key, unpack(row));
  return trie;
}
