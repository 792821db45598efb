/**
 * A conversation as data, and back: for checkpoints and for the hash of the state.
 *
 * N1 equal states give equal text, however they were built: ledgers in their order, tries by key.
 * N2 `restoreState(snapshotState(s))` decides and evolves as `s` does.
 */
import { type Ledger, type LedgerEntry, ledgerEntries, ledgerFrom } from "../persistent/ledger.ts";
import { emptyTrie, type Trie, trieSet, trieSorted } from "../persistent/trie.ts";
import type { ConversationState } from "./state.ts";

/**
 * JSON text. A change of what it holds raises the version of checkpoints, in the runtime, so that an
 * older one is not read. Entries past their end at the time of the latest proposal are left out.
 */
export function snapshotState(state: ConversationState): string {
  const at = state.lastAtMs;
  return JSON.stringify({
    ...state,
    tools: trieSorted(state.tools),
    kept: liveEntries(state.kept, at),
    loose: liveEntries(state.loose, at),
    readTwins: liveEntries(state.readTwins, at),
    writeTwins: liveEntries(state.writeTwins, at),
    open: trieSorted(state.open),
    writes: { ...state.writes, byResource: liveEntries(state.writes.byResource, at) },
    effects: trieSorted(state.effects),
    rates: trieSorted(state.rates),
    grants: trieSorted(state.grants),
    confirmations: trieSorted(state.confirmations),
  });
}

interface LedgerData<V> {
  readonly next: number;
  readonly entries: readonly (readonly [string, LedgerEntry<V>])[];
}

function liveEntries<V>(ledger: Ledger<V>, atMs: number): LedgerData<V> {
  const entries = ledgerEntries(ledger).filter(([, entry]) => entry.dropAt > atMs);
  return { next: ledger.nextOrder, entries };
}

type Entries<V> = readonly (readonly [string, V])[];

type SnapshotData = {
  readonly [K in keyof ConversationState]: ConversationState[K] extends Ledger<infer V>
    ? LedgerData<V>
    : ConversationState[K] extends Trie<infer V>
      ? Entries<V>
      : ConversationState[K];
};

/** The text must come from `snapshotState` of this version: the store's digests see to that. */
export function restoreState(text: string): ConversationState {
  const data = JSON.parse(text) as SnapshotData;
  const resources = data.writes.byResource as unknown as LedgerData<never>;
  return {
    ...data,
    tools: trieFrom(data.tools),
    kept: ledgerFrom(data.kept.entries, data.kept.next),
    loose: ledgerFrom(data.loose.entries, data.loose.next),
    readTwins: ledgerFrom(data.readTwins.entries, data.readTwins.next),
    writeTwins: ledgerFrom(data.writeTwins.entries, data.writeTwins.next),
    open: trieFrom(data.open),
    writes: { ...data.writes, byResource: ledgerFrom(resources.entries, resources.next) },
    effects: trieFrom(data.effects),
    rates: trieFrom(data.rates),
    grants: trieFrom(data.grants),
    confirmations: trieFrom(data.confirmations),
  };
}

function trieFrom<V>(entries: Entries<V>): Trie<V> {
  let trie: Trie<V> = emptyTrie();
  for (const [key, value] of entries) trie = trieSet(trie, key, value);
  return trie;
}
