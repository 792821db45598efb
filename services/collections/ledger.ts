/**
 * An immutable map whose entries end at a time. An entry past its `dropAt` counts as absent whether
 * it has been freed or not; freeing it is no event.
 *
 * LEDGER-1 `bytes` and `size` count what is stored, freed or not: `ledgerPurge` first, then
 * compare.
 * LEDGER-2 putting a key again makes it the newest; the first to be dropped is the smallest
 * (dropAt, order).
 * LEDGER-3 up to `FEW` entries are in one array, and most conversations never have more; larger ledgers
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
} from "./entry-index.ts";
import {
  type FewEntries,
  fewEnd,
  fewEntry,
  fewFind,
  fewFrom,
  fewList,
  fewPut,
  fewReplace,
  fewValue,
  fewWithout,
  type LedgerEntry,
  NO_END,
  NO_ENTRIES,
  NO_TIME,
} from "./few-entries.ts";
import { tableGet } from "./table.ts";

/** Its Bloom filter has the keys of the few; with an index all bits are set. */
export interface Ledger<V> extends Marks {
  readonly size: number;
  readonly bytes: number;
  readonly nextOrder: number;
  /** No entry ends before this time, ms. */
  readonly firstEnd: number;
  /** All entries where there is no index, in the order of their puts. */
  readonly few: FewEntries<V>;
  readonly index: EntryIndex<V> | undefined;
}

/** What a snapshot stores of an entry, and restores. */
export type StoredEntry<V> = LedgerEntry<V>;

export { NO_END, NO_TIME };

const FEW = 24;

const NO_KEYS: readonly string[] = [];

const EMPTY: Ledger<never> = {
  size: 0,
  bytes: 0,
  nextOrder: 0,
  firstEnd: NO_END,
  few: NO_ENTRIES,
  index: undefined,
  marks: NO_MARKS,
  otherMarks: NO_MARKS,
};

export function emptyLedger<V>(): Ledger<V> {
  return EMPTY;
}

export function ledgerGet<V>(ledger: Ledger<V>, key: string, nowMs: number): V | undefined {
  const { few, index } = ledger;
  if (index !== undefined) {
    const entry = tableGet(index.map, key);
    return entry !== undefined && entry.dropAt > nowMs ? entry.value : undefined;
  }
  const at = findFew(ledger, key, tagOf(key));
  return at >= 0 && fewEnd(few, at) > nowMs ? fewValue(few, at) : undefined;
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
  const at = findFew(ledger, key, tag);
  const old = entryAt(ledger, key, at);
  const size = old === undefined ? ledger.size + 1 : ledger.size;
  const total = ledger.bytes + bytes - (old === undefined ? 0 : old.bytes);
  const firstEnd = Math.min(dropAt, end);
  const entry = { key, value, dropAt, order, bytes };
  if (ledger.index === undefined && size <= FEW) {
    return {
      size,
      bytes: total,
      nextOrder: order + 1,
      firstEnd,
      few: fewPut(ledger.few, at, entry),
      index: undefined,
      marks: ledger.marks | markOf(tag),
      otherMarks: ledger.otherMarks | otherMarkOf(tag),
    };
  }
  const index = indexPut(indexed(ledger), entry);
  const nextOrder = order + 1;
  return { size, bytes: total, nextOrder, firstEnd, few: NO_ENTRIES, index, ...ALL_MARKS };
}

/** Replaces the value of a stored key, whose order and end stay. Absent keys stay absent. */
export function ledgerReplace<V>(
  ledger: Ledger<V>,
  key: string,
  value: V,
  bytes: number,
): Ledger<V> {
  return replaced(ledger, key, value, NO_END, bytes);
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
  return replaced(ledger, key, value, dropAt, bytes);
}

/** Replaces an entry by another value, and by an end where it had none. */
function replaced<V>(
  ledger: Ledger<V>,
  key: string,
  value: V,
  endMs: number,
  bytes: number,
): Ledger<V> {
  const at = findFew(ledger, key, tagOf(key));
  const old = entryAt(ledger, key, at);
  if (old === undefined) return ledger;
  const { size, nextOrder, few, index, firstEnd: end, marks, otherMarks } = ledger;
  const dropAt = old.dropAt < NO_END ? old.dropAt : endMs;
  const entry = { key: old.key, value, dropAt, order: old.order, bytes };
  const put = dropAt === old.dropAt ? indexReplace : indexPut;
  return {
    size,
    bytes: ledger.bytes + bytes - old.bytes,
    nextOrder,
    firstEnd: Math.min(dropAt, end),
    few: index === undefined ? fewReplace(few, at, entry) : NO_ENTRIES,
    index: index === undefined ? undefined : put(index, entry),
    marks,
    otherMarks,
  };
}

export function ledgerDelete<V>(ledger: Ledger<V>, key: string): Ledger<V> {
  const at = findFew(ledger, key, tagOf(key));
  const old = entryAt(ledger, key, at);
  if (old === undefined) return ledger;
  const { size, bytes, nextOrder, firstEnd, index } = ledger;
  const few = index === undefined ? fewWithout(ledger.few, at) : NO_ENTRIES;
  return {
    size: size - 1,
    bytes: bytes - old.bytes,
    nextOrder,
    firstEnd,
    few,
    index: index === undefined ? undefined : indexDelete(index, old),
    ...(index === undefined ? marksOf(few) : ALL_MARKS),
  };
}

/** Frees every entry whose end has come. */
export function ledgerPurge<V>(ledger: Ledger<V>, nowMs: number): Ledger<V> {
  if (ledger.firstEnd > nowMs) return ledger;
  if (ledger.index === undefined) return purgedFew(ledger, nowMs);
  let current = ledger;
  for (;;) {
    const first = indexFirst(current.index as EntryIndex<V>);
    const firstEnd = first === undefined ? NO_END : first.dropAt;
    if (first === undefined || firstEnd > nowMs) return { ...current, firstEnd };
    current = ledgerDelete(current, first.key);
  }
}

function purgedFew<V>(ledger: Ledger<V>, nowMs: number): Ledger<V> {
  return ofFew(
    fewList(ledger.few).filter(({ dropAt }) => dropAt > nowMs),
    ledger.nextOrder,
  );
}

/** @param entries a few, the oldest first */
function ofFew<V>(entries: readonly LedgerEntry<V>[], nextOrder: number): Ledger<V> {
  let bytes = 0;
  let firstEnd = NO_END;
  for (const entry of entries) {
    bytes += entry.bytes;
    if (entry.dropAt < firstEnd) firstEnd = entry.dropAt;
  }
  const few = fewFrom(entries);
  const size = entries.length;
  return { size, bytes, nextOrder, firstEnd, few, index: undefined, ...marksOf(few) };
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
  if (ledger.index === undefined) return fewList(ledger.few);
  return indexEntries(ledger.index).sort((a, b) => a.order - b.order);
}

/** Whether any entry passes, freed or not. */
export function ledgerHasAny<V>(
  ledger: Ledger<V>,
  passes: (entry: StoredEntry<V>) => boolean,
): boolean {
  return entriesOf(ledger).some(passes);
}

/** Rebuilds a ledger from the result of `ledgerEntries`. */
export function ledgerFrom<V>(entries: readonly StoredEntry<V>[], nextOrder: number): Ledger<V> {
  const ledger = ofFew(entries, nextOrder);
  if (entries.length <= FEW) return ledger;
  return { ...ledger, few: NO_ENTRIES, index: indexed(ledger), ...ALL_MARKS };
}

/** Where an entry begins among the few; -1: none of them has the key (LEDGER-5). */
function findFew<V>(ledger: Ledger<V>, key: string, tag: number): number {
  return ledger.index === undefined && mayHold(ledger, tag) ? fewFind(ledger.few, key) : -1;
}

/** @param at from `findFew` */
function entryAt<V>(
  { few, index }: Ledger<V>,
  key: string,
  at: number,
): LedgerEntry<V> | undefined {
  if (index !== undefined) return tableGet(index.map, key);
  return at < 0 ? undefined : fewEntry(few, at);
}

const ALL_MARKS = { marks: ANY_MARK, otherMarks: ANY_MARK };

function marksOf<V>(few: FewEntries<V>): Marks {
  let marks = NO_MARKS;
  let otherMarks = NO_MARKS;
  for (const { key } of fewList(few)) {
    const tag = tagOf(key);
    marks |= markOf(tag);
    otherMarks |= otherMarkOf(tag);
  }
  return { marks, otherMarks };
}

function entriesOf<V>({ few, index }: Ledger<V>): LedgerEntry<V>[] {
  return index === undefined ? fewList(few) : indexEntries(index);
}

function indexed<V>({ few, index }: Ledger<V>): EntryIndex<V> {
  return index ?? indexFrom(fewList(few));
}
