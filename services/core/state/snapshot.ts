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
  type StoredEntry,
} from "../../collections/ledger.ts";
import { timesFrom, timesList } from "../../collections/times.ts";
import { emptyTrie, type Trie, trieSet, trieSorted } from "../../collections/trie.ts";
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
import { type ConversationState, NOTHING, NOTHING_WRITTEN, type RecentCall } from "./state.ts";
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
 * is read. Entries past their end at the time of the latest proposal are left out, and what the others
 * determine.
 */
export function snapshotState(state: ConversationState) {
  const at = state.lastAtMs;
  const decisions = new RetainedPacker(state.terms);
  const retained = ledgerData(state.retained, decisions.pack, at);
  const loose = ledgerData(state.loose, decisions.pack, at);
  return {
    tenantId: state.tenantId,
    conversationId: state.conversationId,
    startedAtMs: state.startedAtMs,
    lastAtMs: state.lastAtMs,
    dropAtMs: state.dropAtMs,
    n: state.n,
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
    cycle: state.cycle,
    flags: FLAGS_ROW.pack(state.flags),
    rates: trieData(state.rates, timesList),
    grants: trieData(state.grants, asItIs),
    confirmations: trieData(state.confirmations, asItIs),
    heldTime: HELD_TIME_ROW.pack(state.heldTime),
    manualGrants: trieData(state.manualGrants, asItIs),
    forgotten: trieData(state.forgotten, asItIs),
    denials: state.denials,
    sealKeyId: state.sealKeyId ?? null,
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
  const open = trieOf(data.open, OPEN_ROW.unpack);
  const effects = trieOf(data.effects, (rows) => rows.map(HOLDER_ROW.unpack));
  const actions = ledgerOf(data.actions, ACTION_ROW.unpack);
  const recentCalls = restoreRecentCalls(data.recentCalls, actions);
  const [count, rows] = data.terms;
  const terms = rows.map(TERMS_ROW.unpack);
  const { recentMarks, recentOtherMarks } = restoreMarks(recentCalls, actions);
  const decision = (row: RetainedRow) => unpackRetained(row, terms);
  // In the order of members of `draftOf`, so that all states have one shape.
  return {
    tenantId: data.tenantId,
    conversationId: data.conversationId,
    startedAtMs: data.startedAtMs,
    lastAtMs: data.lastAtMs,
    dropAtMs: data.dropAtMs,
    n: data.n,
    turn: TURN_ROW.unpack(data.turn),
    totals: TOTALS_ROW.unpack(data.totals),
    tools: trieOf(data.tools, TOOL_ROW.unpack),
    retained: ledgerOf(data.retained, decision),
    loose: ledgerOf(data.loose, decision),
    terms: listOf(terms.slice(0, count)),
    forgotten: trieOf(data.forgotten, asItIs),
    priorReads: ledgerOf(data.priorReads, PRIOR_CALL_ROW.unpack),
    priorWrites: ledgerOf(data.priorWrites, PRIOR_CALL_ROW.unpack),
    open,
    doubts: listOf(data.doubts.map(OPEN_ROW.unpack)),
    openIndex: indexOf(open),
    writes: restoreWrites(data.writes),
    effects,
    effectIndex: effectIndexOf(effects),
    sketches: ledgerOf(data.sketches, SKETCHED_ROW.unpack),
    recentCalls,
    actions,
    recentMarks,
    recentOtherMarks,
    strikes: listOf(data.strikes.map(STRIKE_ROW.unpack)),
    cycle: data.cycle,
    flags: FLAGS_ROW.unpack(data.flags),
    rates: trieOf(data.rates, timesFrom),
    grants: trieOf(data.grants, asItIs),
    confirmations: trieOf(data.confirmations, asItIs),
    heldTime: HELD_TIME_ROW.unpack(data.heldTime),
    manualGrants: trieOf(data.manualGrants, asItIs),
    denials: listOf(data.denials),
    sealKeyId: data.sealKeyId ?? undefined,
  };
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

/** The next order, then key, end, order, bytes and row of each entry; null: there never was one. */
type LedgerData<R> = readonly [number, readonly (string | number | R)[]] | null;

const ENTRY_LENGTH = 5;

function ledgerData<V, R>(ledger: Ledger<V>, pack: (value: V) => R, atMs: number): LedgerData<R> {
  if (ledger.nextOrder === 0) return null;
  const data: (string | number | R)[] = [];
  for (const { key, value, dropAt, order, bytes } of ledgerEntries(ledger)) {
    if (dropAt > atMs) data.push(key, dropAt, order, bytes, pack(value));
  }
  return [ledger.nextOrder, data];
}

function ledgerOf<V, R>(stored: LedgerData<R>, unpack: (row: R) => V): Ledger<V> {
  if (stored === null) return emptyLedger();
  const [next, data] = stored;
  const entries: StoredEntry<V>[] = [];
  for (let at = 0; at < data.length; at += ENTRY_LENGTH) {
    const [key, dropAt, order, bytes, row] = data.slice(at, at + ENTRY_LENGTH);
    entries.push({
      key: key as string,
      value: unpack(row as R),
      dropAt: dropAt as number,
      order: order as number,
      bytes: bytes as number,
    });
  }
  return ledgerFrom(entries, next);
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
