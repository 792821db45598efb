/**
 * A map that forgets its oldest entries: two maps that take turns. Deleting the oldest one by one
 * would walk over the holes that earlier deletions left in the map.
 */
export class RecentMap<V> {
  readonly #most: number;
  #recent = new Map<string, V>();
  #older: ReadonlyMap<string, V> = new Map();

  /** @param most upper bound of entries; at least half as many are retained. */
  constructor(most: number) {
    this.#most = most;
  }

  get(key: string): V | undefined {
    return this.#recent.get(key) ?? this.#older.get(key);
  }

  /**
   * Returns the evicted entries that no newer entry of the same key replaces; undefined if none
   * were.
   */
  set(key: string, value: V): Iterable<V> | undefined {
    this.#recent.set(key, value);
    if (this.#recent.size < this.#most / 2) return undefined;
    const gone = this.#older;
    this.#older = this.#recent;
    this.#recent = new Map();
    return without(gone, this.#older);
  }
}

function* without<V>(all: ReadonlyMap<string, V>, newer: ReadonlyMap<string, V>): Generator<V> {
  for (const [key, value] of all) if (!newer.has(key)) yield value;
}
