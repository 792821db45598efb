/**
 * Index of the entries of a large ledger: by key, and by end with the first one at the head of a
 * queue.
 *
 * INDEX-1 the queue may have elements whose entries were replaced or deleted; taking the head skips
 * them. The next head is checked only when it is needed.
 * INDEX-2 an entry without an end (`NO_END`) is in no queue: nothing drops it.
 */
import {
  type Dropping,
  type DropQueue,
  queueFrom,
  queueHead,
  queuePop,
  queuePush,
} from "./drop-queue.ts";
import { type LedgerEntry, NO_END } from "./few-entries.ts";
import { emptyTable, type Table, tableDelete, tableEntries, tableGet, tableSet } from "./table.ts";

export interface EntryIndex<V> {
  readonly map: Table<LedgerEntry<V>>;
  readonly queue: DropQueue;
  /** Elements of the queue, replaced ones included. */
  readonly queued: number;
}

export function indexFrom<V>(entries: readonly LedgerEntry<V>[]): EntryIndex<V> {
  let map: Table<LedgerEntry<V>> = emptyTable();
  for (const entry of entries) map = tableSet(map, entry.key, entry);
  return queuedAnew(map);
}

/** Puts an entry that is new, or that now has an end: it joins the queue. */
export function indexPut<V>(index: EntryIndex<V>, entry: LedgerEntry<V>): EntryIndex<V> {
  const { key, dropAt, order } = entry;
  const map = tableSet(index.map, key, entry);
  if (dropAt === NO_END) return { map, queue: index.queue, queued: index.queued };
  const queued = index.queued + 1;
  // A key that is put again and again must not let the queue grow forever.
  if (queued > 2 * map.size + 16) return queuedAnew(map);
  return { map, queue: queuePush(index.queue, dropAt, order, key), queued };
}

/** Replaces an entry with the same key, end and order. */
export function indexReplace<V>(index: EntryIndex<V>, entry: LedgerEntry<V>): EntryIndex<V> {
  const { queue, queued } = index;
  return { map: tableSet(index.map, entry.key, entry), queue, queued };
}

export function indexDelete<V>(
  index: EntryIndex<V>,
  { key, order }: LedgerEntry<V>,
): EntryIndex<V> {
  let { queue, queued } = index;
  for (;;) {
    const head = queueHead(queue);
    const isLast = head?.order === order;
    if (head === undefined || !(isLast || !isStored(index, head))) break;
    queue = queuePop(queue);
    queued -= 1;
    if (isLast) break;
  }
  return { map: tableDelete(index.map, key), queue, queued };
}

/** The first entry to end: the smallest (dropAt, order). */
export function indexFirst<V>(index: EntryIndex<V>): LedgerEntry<V> | undefined {
  return indexVisit(index, () => true);
}

/**
 * Visits the entries that have an end, the first to end first, and returns the one for which a
 * visit returns true.
 */
export function indexVisit<V>(
  index: EntryIndex<V>,
  visit: (entry: LedgerEntry<V>) => boolean,
): LedgerEntry<V> | undefined {
  let { queue } = index;
  for (;;) {
    const head = queueHead(queue);
    if (head === undefined) return undefined;
    const entry = tableGet(index.map, head.key);
    if (entry?.order === head.order && visit(entry)) return entry;
    queue = queuePop(queue);
  }
}

export function indexEntries<V>(index: EntryIndex<V>): LedgerEntry<V>[] {
  return tableEntries(index.map).map(([, entry]) => entry);
}

function isStored<V>({ map }: EntryIndex<V>, { key, order }: Dropping): boolean {
  return tableGet(map, key)?.order === order;
}

function queuedAnew<V>(map: Table<LedgerEntry<V>>): EntryIndex<V> {
  const ending: LedgerEntry<V>[] = [];
  for (const [, entry] of tableEntries(map)) if (entry.dropAt < NO_END) ending.push(entry);
  return { map, queue: queueFrom(ending), queued: ending.length };
}
