/**
 * An immutable map whose entries end at a time. An entry past its `dropAt` counts as absent whether
 * it has been freed or not; freeing it is no event.
 *
 * L1 `bytes` and `size` count what is stored, freed or not: `ledgerPurge` first, then compare.
 * L2 putting a key again makes it the newest; what goes first is the smallest (dropAt, order).
 * L3 the head of the queue is a stored entry; replaced and deleted ones may wait behind it.
 */

import { type DropQueue, EMPTY_QUEUE, queueHead, queuePop, queuePush } from "./drop-queue.ts";
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
  readonly queue: DropQueue;
  /** Elements of the queue, replaced ones included. */
  readonly queued: number;
  readonly bytes: number;
  readonly nextOrder: number;
}

const EMPTY: Ledger<never> = {
  map: emptyTrie(),
  queue: EMPTY_QUEUE,
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
    queue: queuePush(ledger.queue, dropAt, order, key),
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
  return trimmed({
    map: trieDelete(ledger.map, key),
    queue: ledger.queue,
    queued: ledger.queued,
    bytes: ledger.bytes - old.bytes,
    nextOrder: ledger.nextOrder,
  });
}

/** Frees everything whose end has come. */
export function ledgerPurge<V>(ledger: Ledger<V>, nowMs: number): Ledger<V> {
  let current = ledger;
  for (;;) {
    const head = queueHead(current.queue);
    if (head === undefined || head.dropAt > nowMs) return current;
    current = ledgerDelete(current, head.key);
  }
}

/** The key that goes first (L2), or undefined of an empty ledger. */
export function ledgerFirst<V>(ledger: Ledger<V>): string | undefined {
  return queueHead(ledger.queue)?.key;
}

/** Restores L3: replaced and deleted elements leave the head of the queue. */
function trimmed<V>(ledger: Ledger<V>): Ledger<V> {
  let { queue, queued } = ledger;
  for (;;) {
    const head = queueHead(queue);
    if (head === undefined || trieGet(ledger.map, head.key)?.order === head.order) break;
    queue = queuePop(queue);
    queued -= 1;
  }
  return queue === ledger.queue ? ledger : { ...ledger, queue, queued };
}

function rebuilt<V>(ledger: Ledger<V>): Ledger<V> {
  let queue = EMPTY_QUEUE;
  const entries = [...trieEntries(ledger.map)].sort(
    ([, a], [, b]) => a.dropAt - b.dropAt || a.order - b.order,
  );
  for (const [key, entry] of entries) queue = queuePush(queue, entry.dropAt, entry.order, key);
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
  return rebuilt({ map, queue: EMPTY_QUEUE, queued: 0, bytes, nextOrder });
}
