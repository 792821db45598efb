/** One entry of a ledger. A few of them form a chain, the newest first. */
export interface LedgerEntry<V> {
  /** The first members are those that a scan of a chain reads, so that they share a cache line. */
  readonly tag: number;
  readonly key: string;
  /** The rest of the chain; undefined for entries of an index. */
  readonly next: LedgerEntry<V> | undefined;
  readonly value: V;
  /** Gate time in ms from which the entry is absent. */
  readonly dropAt: number;
  readonly order: number;
  readonly bytes: number;
}

export type EntryChain<V> = LedgerEntry<V> | undefined;

export function chainFind<V>(
  chain: EntryChain<V>,
  key: string,
  tag: number,
): LedgerEntry<V> | undefined {
  let entry = chain;
  while (entry !== undefined && (entry.tag !== tag || entry.key !== key)) entry = entry.next;
  return entry;
}

/**
 * Without the entries that are filtered out: the rest of the chain after the last of those is
 * shared.
 */
export function chainFilter<V>(
  chain: EntryChain<V>,
  keeps: (entry: LedgerEntry<V>) => boolean,
): EntryChain<V> {
  if (chain === undefined) return undefined;
  const next = chainFilter(chain.next, keeps);
  if (!keeps(chain)) return next;
  return next === chain.next ? chain : linked(chain, next);
}

/** The same chain with another entry in place of the one with its key. */
export function chainReplace<V>(chain: EntryChain<V>, entry: LedgerEntry<V>): EntryChain<V> {
  if (chain === undefined) return undefined;
  if (chain.key === entry.key) return linked(entry, chain.next);
  return linked(chain, chainReplace(chain.next, entry));
}

export function chainEntries<V>(chain: EntryChain<V>): LedgerEntry<V>[] {
  const entries: LedgerEntry<V>[] = [];
  for (let entry = chain; entry !== undefined; entry = entry.next) entries.push(entry);
  return entries;
}

export function linked<V>(entry: LedgerEntry<V>, next: EntryChain<V>): LedgerEntry<V> {
  const { tag, key, value, dropAt, order, bytes } = entry;
  return { tag, key, next, value, dropAt, order, bytes };
}
