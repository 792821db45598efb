/**
 * An immutable map from strings to values that costs one native map. The latest version has the
 * map; each earlier one has its difference from the next, and takes the map over when it is read
 * (rerooting, Baker 1978). Reading the latest version costs a lookup, whatever its size; a read of
 * another version costs as many steps as there are changes between the two.
 *
 * TABLE-1 a version's content never changes, whichever version has the map.
 * TABLE-2 a later version retains no earlier one, unless that was read after it was made.
 */
export interface Table<V> {
  readonly size: number;
  // The members below belong to this file: how a version finds its content changes (TABLE-1 does not).
  /** The version that was made or read last has it; the others are changes relative to it. */
  map: Map<string, V> | undefined;
  next: Table<V> | undefined;
  /**
   * The value of this version under `key`, where it differs from the next version; undefined:
   * absent.
   */
  key: string;
  value: V | undefined;
}

const EMPTY: Table<never> = versionOf<never>(0, undefined);

export function emptyTable<V>(): Table<V> {
  return EMPTY;
}

export function tableGet<V>(table: Table<V>, key: string): V | undefined {
  return table.size === 0 ? undefined : mapOf(table).get(key);
}

/** Values are never undefined, which means that the key is absent. */
export function tableSet<V>(table: Table<V>, key: string, value: V): Table<V> {
  if (table.size === 0) return versionOf(1, new Map<string, V>().set(key, value));
  const map = mapOf(table);
  const old = map.get(key);
  map.set(key, value);
  const size = old === undefined ? table.size + 1 : table.size;
  return replaced(table, size, key, old);
}

export function tableDelete<V>(table: Table<V>, key: string): Table<V> {
  if (table.size === 0) return table;
  const map = mapOf(table);
  const old = map.get(key);
  if (old === undefined) return table;
  if (table.size === 1) return EMPTY;
  map.delete(key);
  return replaced(table, table.size - 1, key, old);
}

/** All entries, in no particular order: the order depends on earlier reads. */
export function tableEntries<V>(table: Table<V>): (readonly [string, V])[] {
  return table.size === 0 ? [] : [...mapOf(table)];
}

function versionOf<V>(size: number, map: Map<string, V> | undefined): Table<V> {
  return { size, map, next: undefined, key: "", value: undefined };
}

function mapOf<V>(version: Table<V>): Map<string, V> {
  return version.map ?? rerooted(version);
}

/** Moves the map to a new version; the one before remembers the old value. */
function replaced<V>(before: Table<V>, size: number, key: string, old: V | undefined): Table<V> {
  const next = versionOf(size, before.map);
  before.map = undefined;
  before.next = next;
  before.key = key;
  before.value = old;
  return next;
}

/** Reverses the chain from this version to the holder of the map, so that this one has it. */
function rerooted<V>(version: Table<V>): Map<string, V> {
  const chain: Table<V>[] = [];
  let holder = version;
  while (holder.map === undefined) {
    chain.push(holder);
    holder = holder.next as Table<V>;
  }
  const { map } = holder;
  for (let at = chain.length - 1; at >= 0; at -= 1) {
    const earlier = chain[at] as Table<V>;
    const { key, value } = earlier;
    holder.map = undefined;
    holder.next = earlier;
    holder.key = key;
    holder.value = map.get(key);
    if (value === undefined) map.delete(key);
    else map.set(key, value);
    earlier.map = map;
    earlier.next = undefined;
    earlier.value = undefined;
    holder = earlier;
  }
  return map;
}
