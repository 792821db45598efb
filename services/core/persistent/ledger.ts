/**
 * An immutable map whose entries end at a time. An entry past its `dropAt` counts as absent whether
 * it has been freed or not; freeing it is no event.
 *
 * L1 `bytes` and `size` count what is stored, freed or not: `ledgerPurge` first, then compare.
 * L2 putting a key again makes it the newest; what goes first is the smallest (dropAt, order).
 * L3 the head of the queue is a stored entry; replaced and deleted ones may wait behind it.
 */

import { type Heap, heapPop, heapPush } from "./heap.ts";
import { emptyTrie, type Trie, trieDelete, trieEntries, trieGet, trieSet } from "./trie.ts";

export interface LedgerEntry<V> {
  readonly value: V;
  /** Gate time in ms from which the entry is absent. */
  readonly dropAt: number;
  readonly order: number;
  readonly bytes: number;
}

export interface Ledger<V> {
  readonly map: Trie<LedgerEntry<V>>;
  readonly queue: Heap | undefined;
  /** Elements of the queue, replaced ones included. */
  readonly queued: number;
  readonly bytes: number;
  readonly nextOrder: number;
}

const EMPTY: Ledger<never> = {
  map: emptyTrie(),
  queue: undefined,
  queued: 0,
  bytes: 0,
  nextOrder: 0,
};

export function emptyLedger<V>(): Ledger<V> {
  return EMPTY;
}

export function ledgerGet<V>(ledger: Ledger<V>, key: string, nowMs: number): V | undefined {
  const entry = trieGet(ledger.map, key);
  return entry !== undefined && entry.dropAt > nowMs ? entry.value : undefined;
}

export function ledgerPut<V>(
  ledger: Ledger<V>,
  key: string,
  value: V,
  dropAt: number,
  bytes: number,
): Ledger<V> {
  const old = trieGet(ledger.map, key);
  const order = ledger.nextOrder;
  const next: Ledger<V> = {
    map: trieSet(ledger.map, key, { value, dropAt, order, bytes }),
    queue: heapPush(ledger.queue, dropAt, order, key),
    queued: ledger.queued + 1,
    bytes: ledger.bytes + bytes - (old === undefined ? 0 : old.bytes),
    nextOrder: order + 1,
  };
  return next.queued > 2 * next.map.size + 16 ? rebuilt(next) : trimmed(next);
}

/** Replaces the value of a stored key; its place and its end stay. Absent keys stay absent. */
export function ledgerReplace<V>(
  ledger: Ledger<V>,
  key: string,
  value: V,
  bytes: number,
): Ledger<V> {
  const old = trieGet(ledger.map, key);
  if (old === undefined) return ledger;
  return {
    ...ledger,
    map: trieSet(ledger.map, key, { ...old, value, bytes }),
    bytes: ledger.bytes + bytes - old.bytes,
  };
}

export function ledgerDelete<V>(ledger: Ledger<V>, key: string): Ledger<V> {
  const old = trieGet(ledger.map, key);
  if (old === undefined) return ledger;
  const map = trieDelete(ledger.map, key);
  return trimmed({ ...ledger, map, bytes: ledger.bytes - old.bytes });
}

/** Frees everything whose end has come. */
export function ledgerPurge<V>(ledger: Ledger<V>, nowMs: number): Ledger<V> {
  let current = ledger;
  while (current.queue !== undefined && current.queue.dropAt <= nowMs) {
    current = ledgerDelete(current, current.queue.key);
  }
  return current;
}

/** The key that goes first (L2), or undefined of an empty ledger. */
export function ledgerFirst<V>(ledger: Ledger<V>): string | undefined {
  return ledger.queue?.key;
}

/** Restores L3: replaced and deleted elements leave the head of the queue. */
function trimmed<V>(ledger: Ledger<V>): Ledger<V> {
  let { queue, queued } = ledger;
  while (queue !== undefined && trieGet(ledger.map, queue.key)?.order !== queue.order) {
    queue = heapPop(queue);
    queued -= 1;
  }
  return queue === ledger.queue ? ledger : { ...ledger, queue, queued };
}

function rebuilt<V>(ledger: Ledger<V>): Ledger<V> {
  let queue: Heap | undefined;
  for (const [key, entry] of trieEntries(ledger.map)) {
    queue = heapPush(queue, entry.dropAt, entry.order, key);
  }
  return { ...ledger, queue, queued: ledger.map.size };
}

/** Entries in the order of L2: for snapshots. */
export function ledgerEntries<V>(ledger: Ledger<V>): (readonly [string, LedgerEntry<V>])[] {
  return [...trieEntries(ledger.map)].sort((a, b) => a[1].order - b[1].order);
}

/** Rebuilds a ledger from what `ledgerEntries` gave. */
export function ledgerFrom<V>(
  entries: Iterable<readonly [string, LedgerEntry<V>]>,
  nextOrder: number,
): Ledger<V> {
  let map: Trie<LedgerEntry<V>> = emptyTrie();
  let bytes = 0;
  for (const [key, entry] of entries) {
    map = trieSet(map, key, entry);
    bytes += entry.bytes;
  }
  return rebuilt({ map, queue: undefined, queued: 0, bytes, nextOrder });
}
