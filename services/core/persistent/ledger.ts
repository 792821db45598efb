/**
 * An immutable map whose entries end at a time. An entry past its `dropAt` counts as absent whether
 * it has been freed or not; freeing it is no event.
 *
 * L1 `bytes` and `size` count what is stored, freed or not: `ledgerPurge` first, then compare.
 * L2 putting a key again makes it the newest; what goes first is the smallest (dropAt, order).
 * L3 elements of the queue without an entry (replaced, deleted) may wait in it; whoever takes its
 *    head skips them. Looking up whether the next head has one is left until it is asked for.
 * L4 an entry without an end (`NO_END`) is in no queue: nothing drops it, and it never goes to make room.
 */

import {
  type Dropping,
  type DropQueue,
  EMPTY_QUEUE,
  queueFirstEnd,
  queueHead,
  queuePop,
  queuePush,
} from "./drop-queue.ts";
import { emptyTable, type Table, tableDelete, tableEntries, tableGet, tableSet } from "./table.ts";

export interface LedgerEntry<V> {
  readonly value: V;
  /** Gate time in ms from which the entry is absent. */
  readonly dropAt: number;
  readonly order: number;
  readonly bytes: number;
}

export interface Ledger<V> {
  readonly map: Table<LedgerEntry<V>>;
  readonly queue: DropQueue;
  /** Elements of the queue, replaced ones included. */
  readonly queued: number;
  readonly bytes: number;
  readonly nextOrder: number;
}

/** The end of what stays until it is put again with another one, or deleted. */
export const NO_END = Number.MAX_SAFE_INTEGER;

const EMPTY: Ledger<never> = {
  map: emptyTable(),
  queue: EMPTY_QUEUE,
  queued: 0,
  bytes: 0,
  nextOrder: 0,
};

export function emptyLedger<V>(): Ledger<V> {
  return EMPTY;
}

export function ledgerGet<V>(ledger: Ledger<V>, key: string, nowMs: number): V | undefined {
  const entry = tableGet(ledger.map, key);
  return entry !== undefined && entry.dropAt > nowMs ? entry.value : undefined;
}

export function ledgerPut<V>(
  ledger: Ledger<V>,
  key: string,
  value: V,
  dropAt: number,
  bytes: number,
): Ledger<V> {
  const old = tableGet(ledger.map, key);
  const order = ledger.nextOrder;
  const entry = { value, dropAt, order, bytes };
  const ends = dropAt < NO_END;
  const next: Ledger<V> = {
    map: tableSet(ledger.map, key, entry),
    queue: ends ? queuePush(ledger.queue, dropAt, order, key) : ledger.queue,
    queued: ends ? ledger.queued + 1 : ledger.queued,
    bytes: ledger.bytes + bytes - (old === undefined ? 0 : old.bytes),
    nextOrder: order + 1,
  };
  return next.queued > 2 * next.map.size + 16 ? rebuilt(next) : next;
}

/** Replaces the value of a stored key; its place and its end stay. Absent keys stay absent. */
export function ledgerReplace<V>(
  ledger: Ledger<V>,
  key: string,
  value: V,
  bytes: number,
): Ledger<V> {
  const old = tableGet(ledger.map, key);
  if (old === undefined) return ledger;
  const { dropAt, order } = old;
  return {
    map: tableSet(ledger.map, key, { value, dropAt, order, bytes }),
    queue: ledger.queue,
    queued: ledger.queued,
    bytes: ledger.bytes + bytes - old.bytes,
    nextOrder: ledger.nextOrder,
  };
}

/**
 * The same for a key without an end, which gets this one. Its place stays: places that are given count
 * in the state hashes of a journal, those of earlier versions too.
 */
export function ledgerEnd<V>(
  ledger: Ledger<V>,
  key: string,
  value: V,
  dropAt: number,
  bytes: number,
): Ledger<V> {
  const old = tableGet(ledger.map, key);
  if (old === undefined || old.dropAt < NO_END) return ledgerReplace(ledger, key, value, bytes);
  const { order } = old;
  const next: Ledger<V> = {
    map: tableSet(ledger.map, key, { value, dropAt, order, bytes }),
    queue: queuePush(ledger.queue, dropAt, order, key),
    queued: ledger.queued + 1,
    bytes: ledger.bytes + bytes - old.bytes,
    nextOrder: ledger.nextOrder,
  };
  return next.queued > 2 * next.map.size + 16 ? rebuilt(next) : next;
}

export function ledgerDelete<V>(ledger: Ledger<V>, key: string): Ledger<V> {
  const old = tableGet(ledger.map, key);
  if (old === undefined) return ledger;
  const { queue, queued } = headDropped(ledger, old.order);
  return {
    map: tableDelete(ledger.map, key),
    queue,
    queued,
    bytes: ledger.bytes - old.bytes,
    nextOrder: ledger.nextOrder,
  };
}

/** Frees everything whose end has come. */
export function ledgerPurge<V>(ledger: Ledger<V>, nowMs: number): Ledger<V> {
  // Whatever waits behind the head ends no earlier.
  if (queueFirstEnd(ledger.queue) > nowMs) return ledger;
  let current = ledger;
  for (;;) {
    const head = queueHead(current.queue);
    if (head === undefined || head.dropAt > nowMs) return current;
    current = isStored(current, head) ? ledgerDelete(current, head.key) : headless(current);
  }
}

/** The key that goes first (L2), or undefined where none can go (L4). */
export function ledgerFirst<V>(ledger: Ledger<V>): string | undefined {
  let { queue } = ledger;
  for (;;) {
    const head = queueHead(queue);
    if (head === undefined || isStored(ledger, head)) return head?.key;
    queue = queuePop(queue);
  }
}

/**
 * The keys that must go for one more entry to fit, first ones first (L2): until fewer than `sizeMost`
 * entries and `bytesMost` bytes are left. Those whose end has come count as gone and are not named.
 */
export function ledgerOverflow<V>(
  ledger: Ledger<V>,
  sizeMost: number,
  bytesMost: number,
  nowMs: number,
): readonly string[] {
  const keys: string[] = [];
  let { queue, bytes } = ledger;
  let { size } = ledger.map;
  while (size >= sizeMost || bytes >= bytesMost) {
    const head = queueHead(queue);
    if (head === undefined) break;
    const entry = tableGet(ledger.map, head.key);
    if (entry?.order === head.order) {
      if (entry.dropAt > nowMs) keys.push(head.key);
      size -= 1;
      bytes -= entry.bytes;
    }
    queue = queuePop(queue);
  }
  return keys;
}

/**
 * Whether as many entries or bytes as given are left once everything whose end has come is gone.
 * Frees nothing: a purge that nobody keeps would be work for nothing.
 */
export function ledgerIsFull<V>(
  ledger: Ledger<V>,
  sizeMost: number,
  bytesMost: number,
  nowMs: number,
): boolean {
  let { queue, bytes } = ledger;
  let { size } = ledger.map;
  while (size >= sizeMost || bytes >= bytesMost) {
    const head = queueHead(queue);
    if (head === undefined || head.dropAt > nowMs) return true;
    const entry = tableGet(ledger.map, head.key);
    if (entry?.order === head.order) {
      size -= 1;
      bytes -= entry.bytes;
    }
    queue = queuePop(queue);
  }
  return false;
}

function isStored<V>(ledger: Ledger<V>, { key, order }: Dropping): boolean {
  return tableGet(ledger.map, key)?.order === order;
}

/** Without the first of a queue that has one. */
function headless<V>(ledger: Ledger<V>): Ledger<V> {
  return { ...ledger, queue: queuePop(ledger.queue), queued: ledger.queued - 1 };
}

/** The queue once the entry of this order is gone: what has no entry leaves its head. */
function headDropped<V>(ledger: Ledger<V>, order: number): Pick<Ledger<V>, "queue" | "queued"> {
  let { queue, queued } = ledger;
  for (;;) {
    const head = queueHead(queue);
    const isLast = head?.order === order;
    if (head === undefined || !(isLast || !isStored(ledger, head))) return { queue, queued };
    queue = queuePop(queue);
    queued -= 1;
    if (isLast) return { queue, queued };
  }
}

function rebuilt<V>(ledger: Ledger<V>): Ledger<V> {
  let queue = EMPTY_QUEUE;
  const entries = tableEntries(ledger.map)
    .filter(([, { dropAt }]) => dropAt < NO_END)
    .sort(([, a], [, b]) => a.dropAt - b.dropAt || a.order - b.order);
  for (const [key, entry] of entries) queue = queuePush(queue, entry.dropAt, entry.order, key);
  return { ...ledger, queue, queued: entries.length };
}

/** Entries in the order of L2: for snapshots. */
export function ledgerEntries<V>(ledger: Ledger<V>): (readonly [string, LedgerEntry<V>])[] {
  return [...tableEntries(ledger.map)].sort((a, b) => a[1].order - b[1].order);
}

/** Rebuilds a ledger from what `ledgerEntries` gave. */
export function ledgerFrom<V>(
  entries: Iterable<readonly [string, LedgerEntry<V>]>,
  nextOrder: number,
): Ledger<V> {
  let map: Table<LedgerEntry<V>> = emptyTable();
  let bytes = 0;
  for (const [key, entry] of entries) {
    map = tableSet(map, key, entry);
    bytes += entry.bytes;
  }
  return rebuilt({ map, queue: EMPTY_QUEUE, queued: 0, bytes, nextOrder });
}
