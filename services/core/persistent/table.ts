/**
 * An immutable map from strings to values that costs one native map. The latest version holds it;
 * each earlier one holds what it differs in from the next, and takes the map over when it is read
 * (rerooting, Baker 1978). Reading the latest version costs a lookup, whatever its size; going back
 * and forth between versions costs as many steps as there are changes between them.
 *
 * B1 a version's content never changes, whichever version holds the map.
 * B2 a later version keeps no earlier one alive, unless that was read after it was made.
 */
export interface Table<V> {
  readonly size: number;
  readonly place: Place<V>;
}

/** Where a version finds its content: in its own map, or one change away from the next version. */
interface Place<V> {
  map: Map<string, V> | undefined;
  next: Place<V> | undefined;
  /** What this version holds under `key` unlike the next; undefined: nothing. */
  key: string;
  value: V | undefined;
}

const EMPTY: Table<never> = {
  size: 0,
  place: { map: undefined, next: undefined, key: "", value: undefined },
};

export function emptyTable<V>(): Table<V> {
  return EMPTY;
}

export function tableGet<V>(table: Table<V>, key: string): V | undefined {
  if (table.size === 0) return undefined;
  const { map } = table.place;
  return (map ?? rerooted(table.place)).get(key);
}

/** Values are never undefined: that stands for none. */
export function tableSet<V>(table: Table<V>, key: string, value: V): Table<V> {
  if (table.size === 0) return { size: 1, place: placeOf(new Map<string, V>().set(key, value)) };
  const map = table.place.map ?? rerooted(table.place);
  const old = map.get(key);
  map.set(key, value);
  return { size: old === undefined ? table.size + 1 : table.size, place: moved(table, key, old) };
}

export function tableDelete<V>(table: Table<V>, key: string): Table<V> {
  if (table.size === 0) return table;
  const map = table.place.map ?? rerooted(table.place);
  const old = map.get(key);
  if (old === undefined) return table;
  if (table.size === 1) return EMPTY;
  map.delete(key);
  return { size: table.size - 1, place: moved(table, key, old) };
}

/** All entries, in no particular order: what comes first depends on what was read before. */
export function tableEntries<V>(table: Table<V>): (readonly [string, V])[] {
  return table.size === 0 ? [] : [...(table.place.map ?? rerooted(table.place))];
}

function placeOf<V>(map: Map<string, V>): Place<V> {
  return { map, next: undefined, key: "", value: undefined };
}

/** The map goes to a new version; the one before remembers what it held. */
function moved<V>({ place }: Table<V>, key: string, old: V | undefined): Place<V> {
  const next = placeOf(place.map as Map<string, V>);
  place.map = undefined;
  place.next = next;
  place.key = key;
  place.value = old;
  return next;
}

/** Turns the chain from this version to the holder of the map around, so that this one holds it. */
function rerooted<V>(place: Place<V>): Map<string, V> {
  const chain: Place<V>[] = [];
  let holder: Place<V> = place;
  while (holder.map === undefined) {
    chain.push(holder);
    holder = holder.next as Place<V>;
  }
  const { map } = holder;
  for (let at = chain.length - 1; at >= 0; at -= 1) {
    const earlier = chain[at] as Place<V>;
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
