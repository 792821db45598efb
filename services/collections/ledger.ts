/**
 * An immutable map whose entries end at a time. An entry past its `dropAt` counts as absent whether
 * it has been freed or not; freeing it is no event.
 *
 * LEDGER-1 `bytes` and `size` count what is stored, freed or not: `ledgerPurge` first, then
 * compare.
 * LEDGER-2 putting a key again makes it the newest; the first to be dropped is the smallest
 * (dropAt, order).
 * LEDGER-3 up to `FEW` entries form a chain, and most conversations never have more; larger ledgers
 * have an index.
 * LEDGER-4 nothing drops an entry without an end (`NO_END`), not even to make room.
 * LEDGER-5 a key whose marks are not all set has no entry. Most keys that are looked up are new,
 * and the entries of a conversation that was idle are outside the processor's caches, where each
 * costs a wait of its own.
 */

import {
  ANY_MARK,
  type Marks,
  markOf,
  mayHold,
  NO_MARKS,
  otherMarkOf,
  tagOf,
} from "./bloom-filter.ts";
import {
  type EntryIndex,
  indexDelete,
  indexEntries,
  indexFirst,
  indexFrom,
  indexPut,
  indexReplace,
  indexVisit,
  NO_END,
} from "./entry-index.ts";
import {
  chainEntries,
  chainFilter,
  chainFind,
  chainReplace,
  type EntryChain,
  type LedgerEntry,
} from "./ledger-entry.ts";
import { tableGet } from "./table.ts";

/** Its Bloom filter has the chain's keys; with an index all bits are set. */
export interface Ledger<V> extends Marks {
  readonly size: number;
  readonly bytes: number;
  readonly nextOrder: number;
  /** No entry ends before this time, ms. */
  readonly firstEnd: number;
  /** All entries, newest first, where there is no index. */
  readonly chain: EntryChain<V>;
  readonly index: EntryIndex<V> | undefined;
}

/** What a snapshot stores of an entry, and restores. */
export type StoredEntry<V> = Omit<LedgerEntry<V>, "next" | "tag">;

export { NO_END };

/** The end of an entry that no time drops, but that may be dropped to make room. */
export const NO_TIME = NO_END - 1;

const FEW = 24;

const NO_KEYS: readonly string[] = [];

const EMPTY: Ledger<never> = {
  size: 0,
  bytes: 0,
  nextOrder: 0,
  firstEnd: NO_END,
  chain: undefined,
  index: undefined,
  marks: NO_MARKS,
  otherMarks: NO_MARKS,
};

export function emptyLedger<V>(): Ledger<V> {
  return EMPTY;
}

export function ledgerGet<V>(ledger: Ledger<V>, key: string, nowMs: number): V | undefined {
  const entry = entryOf(ledger, key, tagOf(key));
  return entry !== undefined && entry.dropAt > nowMs ? entry.value : undefined;
}

export function ledgerPut<V>(
  ledger: Ledger<V>,
  key: string,
  value: V,
  dropAt: number,
  bytes: number,
): Ledger<V> {
  const { nextOrder: order, firstEnd: end } = ledger;
  const tag = tagOf(key);
  const old = entryOf(ledger, key, tag);
  const size = old === undefined ? ledger.size + 1 : ledger.size;
  const total = ledger.bytes + bytes - (old === undefined ? 0 : old.bytes);
  const firstEnd = Math.min(dropAt, end);
  if (ledger.index === undefined && size <= FEW) {
    const next = old === undefined ? ledger.chain : without(ledger.chain, key);
    const chain = { tag, key, next, value, dropAt, order, bytes };
    return {
      size,
      bytes: total,
      nextOrder: order + 1,
      firstEnd,
      chain,
      index: undefined,
      marks: ledger.marks | markOf(tag),
      otherMarks: ledger.otherMarks | otherMarkOf(tag),
    };
  }
  const entry = { tag, key, next: undefined, value, dropAt, order, bytes };
  const index = indexPut(indexed(ledger), entry);
  const nextOrder = order + 1;
  return { size, bytes: total, nextOrder, firstEnd, chain: undefined, index, ...ALL_MARKS };
}

/** Replaces the value of a stored key, whose order and end stay. Absent keys stay absent. */
export function ledgerReplace<V>(
  ledger: Ledger<V>,
  key: string,
  value: V,
  bytes: number,
): Ledger<V> {
  const old = entryOf(ledger, key, tagOf(key));
  return old === undefined ? ledger : replaced(ledger, old, value, old.dropAt, bytes);
}

/**
 * The same for a key without an end, which gets this one. Its order stays: orders count in the
 * state hashes of a journal, those of earlier versions too.
 */
export function ledgerEnd<V>(
  ledger: Ledger<V>,
  key: string,
  value: V,
  dropAt: number,
  bytes: number,
): Ledger<V> {
  const old = entryOf(ledger, key, tagOf(key));
  if (old === undefined) return ledger;
  return replaced(ledger, old, value, old.dropAt < NO_END ? old.dropAt : dropAt, bytes);
}

/** Replaces an entry by another value, and by an end where it had none. */
function replaced<V>(
  ledger: Ledger<V>,
  old: LedgerEntry<V>,
  value: V,
  dropAt: number,
  bytes: number,
): Ledger<V> {
  const { size, nextOrder, chain, index, firstEnd: end, marks, otherMarks } = ledger;
  const { tag, key, order } = old;
  const entry = { tag, key, next: undefined, value, dropAt, order, bytes };
  const put = dropAt === old.dropAt ? indexReplace : indexPut;
  return {
    size,
    bytes: ledger.bytes + bytes - old.bytes,
    nextOrder,
    firstEnd: Math.min(dropAt, end),
    chain: index === undefined ? chainReplace(chain, entry) : undefined,
    index: index === undefined ? undefined : put(index, entry),
    marks,
    otherMarks,
  };
}

export function ledgerDelete<V>(ledger: Ledger<V>, key: string): Ledger<V> {
  const old = entryOf(ledger, key, tagOf(key));
  if (old === undefined) return ledger;
  const { size, bytes, nextOrder, firstEnd, index } = ledger;
  const chain = index === undefined ? without(ledger.chain, key) : undefined;
  return {
    size: size - 1,
    bytes: bytes - old.bytes,
    nextOrder,
    firstEnd,
    chain,
    index: index === undefined ? undefined : indexDelete(index, old),
    ...(index === undefined ? marksOf(chain) : ALL_MARKS),
  };
}

/** Frees every entry whose end has come. */
export function ledgerPurge<V>(ledger: Ledger<V>, nowMs: number): Ledger<V> {
  if (ledger.firstEnd > nowMs) return ledger;
  if (ledger.index === undefined) return purgedChain(ledger, nowMs);
  let current = ledger;
  for (;;) {
    const first = indexFirst(current.index as EntryIndex<V>);
    const firstEnd = first === undefined ? NO_END : first.dropAt;
    if (first === undefined || firstEnd > nowMs) return { ...current, firstEnd };
    current = ledgerDelete(current, first.key);
  }
}

function purgedChain<V>(ledger: Ledger<V>, nowMs: number): Ledger<V> {
  const chain = chainFilter(ledger.chain, ({ dropAt }) => dropAt > nowMs);
  let size = 0;
  let bytes = 0;
  let firstEnd = NO_END;
  for (let entry = chain; entry !== undefined; entry = entry.next) {
    size += 1;
    bytes += entry.bytes;
    if (entry.dropAt < firstEnd) firstEnd = entry.dropAt;
  }
  const { nextOrder } = ledger;
  return { size, bytes, nextOrder, firstEnd, chain, index: undefined, ...marksOf(chain) };
}

/** The key to drop first (LEDGER-2), or undefined where none may be dropped (LEDGER-4). */
export function ledgerFirst<V>(ledger: Ledger<V>): string | undefined {
  return indexFirst(indexed(ledger))?.key;
}

/**
 * The keys to drop so that one more entry fits, the first ones first (LEDGER-2): until fewer than
 * `sizeMost` entries and `bytesMost` bytes are left. Entries whose end has come count as absent and
 * are not listed; those for which `stays` is true are skipped.
 */
export function ledgerOverflow<V>(
  ledger: Ledger<V>,
  sizeMost: number,
  bytesMost: number,
  nowMs: number,
  stays: (value: V) => boolean = () => false,
): readonly string[] {
  let { size, bytes } = ledger;
  if (size < sizeMost && bytes < bytesMost) return NO_KEYS;
  const keys: string[] = [];
  indexVisit(indexed(ledger), (entry) => {
    if (size < sizeMost && bytes < bytesMost) return true;
    const isThere = entry.dropAt > nowMs;
    if (isThere && stays(entry.value)) return false;
    if (isThere) keys.push(entry.key);
    size -= 1;
    bytes -= entry.bytes;
    return false;
  });
  return keys;
}

/**
 * Whether this many entries or bytes are left once every entry whose end has come is freed. Frees
 * nothing itself: a purged copy that is not used would be wasted work.
 */
export function ledgerIsFull<V>(
  ledger: Ledger<V>,
  sizeMost: number,
  bytesMost: number,
  nowMs: number,
): boolean {
  let { size, bytes } = ledger;
  if (size < sizeMost && bytes < bytesMost) return false;
  indexVisit(indexed(ledger), (entry) => {
    if (entry.dropAt > nowMs) return true;
    size -= 1;
    bytes -= entry.bytes;
    return size < sizeMost && bytes < bytesMost;
  });
  return size >= sizeMost || bytes >= bytesMost;
}

/** Entries in the order in which they were put (LEDGER-2), for snapshots. */
export function ledgerEntries<V>(ledger: Ledger<V>): readonly StoredEntry<V>[] {
  return entriesOf(ledger).sort((a, b) => a.order - b.order);
}

/** Whether any entry passes, freed or not. */
export function ledgerHasAny<V>(
  ledger: Ledger<V>,
  passes: (entry: StoredEntry<V>) => boolean,
): boolean {
  return entriesOf(ledger).some(passes);
}

/** Rebuilds a ledger from the result of `ledgerEntries`. */
export function ledgerFrom<V>(entries: Iterable<StoredEntry<V>>, nextOrder: number): Ledger<V> {
  let chain: EntryChain<V>;
  let size = 0;
  let bytes = 0;
  let firstEnd = NO_END;
  for (const { key, value, dropAt, order, bytes: taken } of entries) {
    chain = { tag: tagOf(key), key, next: chain, value, dropAt, order, bytes: taken };
    size += 1;
    bytes += taken;
    if (dropAt < firstEnd) firstEnd = dropAt;
  }
  const ledger = { size, bytes, nextOrder, firstEnd, chain, index: undefined, ...marksOf(chain) };
  if (size <= FEW) return ledger;
  return { ...ledger, chain: undefined, index: indexed(ledger), ...ALL_MARKS };
}

function entryOf<V>(ledger: Ledger<V>, key: string, tag: number): LedgerEntry<V> | undefined {
  const { chain, index } = ledger;
  if (index !== undefined) return tableGet(index.map, key);
  return mayHold(ledger, tag) ? chainFind(chain, key, tag) : undefined;
}

const ALL_MARKS = { marks: ANY_MARK, otherMarks: ANY_MARK };

function marksOf<V>(chain: EntryChain<V>): Marks {
  let marks = NO_MARKS;
  let otherMarks = NO_MARKS;
  for (let entry = chain; entry !== undefined; entry = entry.next) {
    marks |= markOf(entry.tag);
    otherMarks |= otherMarkOf(entry.tag);
  }
  return { marks, otherMarks };
}

function entriesOf<V>({ chain, index }: Ledger<V>): LedgerEntry<V>[] {
  return index === undefined ? chainEntries(chain) : indexEntries(index);
}

function indexed<V>({ chain, index }: Ledger<V>): EntryIndex<V> {
  return index ?? indexFrom(chainEntries(chain));
}

function without<V>(chain: EntryChain<V>, key: string): EntryChain<V> {
  return chainFilter(chain, (entry) => entry.key !== key);
}
