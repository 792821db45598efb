/**
 * The first few entries of a ledger in one array, the oldest first: a record for each would take twice the
 * memory. A change copies the array, without spare capacity.
 */

/** One entry of a ledger. */
export interface LedgerEntry<V> {
  readonly key: string;
  readonly value: V;
  /** Gate time in ms from which the entry is absent. */
  readonly dropAt: number;
  readonly order: number;
  readonly bytes: number;
}

/** Five slots for each entry: key, value, end, order, bytes. The end is null where it is `NO_TIME`. */
export type FewEntries<V> = readonly Slot<V>[];

type Slot<V> = string | number | null | V;

/** The end of an entry that stays until it is put again with another end, or deleted. */
export const NO_END = Number.MAX_SAFE_INTEGER;

/** The end of an entry that no time drops, but that may be dropped to make room. */
export const NO_TIME = NO_END - 1;

const VALUE = 1;
const DROP_AT = 2;
const ORDER = 3;
const BYTES = 4;
const STRIDE = 5;

export const NO_ENTRIES: readonly never[] = [];

/** Where the entry with the key begins; -1: there is none. The newest is looked for first. */
export function fewFind<V>(few: FewEntries<V>, key: string): number {
  let at = few.length - STRIDE;
  while (at >= 0 && few[at] !== key) at -= STRIDE;
  return at < 0 ? -1 : at;
}

export function fewValue<V>(few: FewEntries<V>, at: number): V {
  return few[at + VALUE] as V;
}

export function fewEnd<V>(few: FewEntries<V>, at: number): number {
  return (few[at + DROP_AT] as number | null) ?? NO_TIME;
}

/** Most entries of a conversation have this end, which as a number takes 16 bytes each time. */
function slotOf(dropAt: number): number | null {
  return dropAt === NO_TIME ? null : dropAt;
}

export function fewEntry<V>(few: FewEntries<V>, at: number): LedgerEntry<V> {
  return {
    key: few[at] as string,
    value: few[at + VALUE] as V,
    dropAt: fewEnd(few, at),
    order: few[at + ORDER] as number,
    bytes: few[at + BYTES] as number,
  };
}

/** The entry at the end, without the one that begins at `old`; -1: it takes the place of none. */
export function fewPut<V>(few: FewEntries<V>, old: number, entry: LedgerEntry<V>): FewEntries<V> {
  const length = old < 0 ? few.length : few.length - STRIDE;
  const next = new Array<Slot<V>>(length + STRIDE);
  for (let from = 0, to = 0; to < length; from += 1, to += 1) {
    if (from === old) from += STRIDE;
    next[to] = few[from] as Slot<V>;
  }
  next[length] = entry.key;
  next[length + VALUE] = entry.value;
  next[length + DROP_AT] = slotOf(entry.dropAt);
  next[length + ORDER] = entry.order;
  next[length + BYTES] = entry.bytes;
  return next;
}

/** The entry that begins at `at` with another value, end and bytes. */
export function fewReplace<V>(
  few: FewEntries<V>,
  at: number,
  { value, dropAt, bytes }: Omit<LedgerEntry<V>, "key" | "order">,
): FewEntries<V> {
  const next = few.slice();
  next[at + VALUE] = value;
  next[at + DROP_AT] = slotOf(dropAt);
  next[at + BYTES] = bytes;
  return next;
}

export function fewWithout<V>(few: FewEntries<V>, at: number): FewEntries<V> {
  return few.length === STRIDE ? NO_ENTRIES : few.toSpliced(at, STRIDE);
}

/** @param entries the oldest first */
export function fewFrom<V>(entries: readonly LedgerEntry<V>[]): FewEntries<V> {
  if (entries.length === 0) return NO_ENTRIES;
  const few = new Array<Slot<V>>(entries.length * STRIDE);
  for (let at = 0; at < entries.length; at += 1) {
    const { key, value, dropAt, order, bytes } = entries[at] as LedgerEntry<V>;
    few[at * STRIDE] = key;
    few[at * STRIDE + VALUE] = value;
    few[at * STRIDE + DROP_AT] = slotOf(dropAt);
    few[at * STRIDE + ORDER] = order;
    few[at * STRIDE + BYTES] = bytes;
  }
  return few;
}

export function fewList<V>(few: FewEntries<V>): LedgerEntry<V>[] {
  const entries: LedgerEntry<V>[] = [];
  for (let at = 0; at < few.length; at += STRIDE) entries.push(fewEntry(few, at));
  return entries;
}
