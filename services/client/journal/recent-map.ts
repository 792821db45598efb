/**
 * A map that forgets what was put in long ago: two maps in turn. Taking out the oldest one by one would walk
 * over the holes that those before it left in the map.
 */
export class RecentMap<V> {
  readonly #most: number;
  #recent = new Map<string, V>();
  #older: ReadonlyMap<string, V> = new Map();

  /** @param most entries kept at most; at least half as many are. */
  constructor(most: number) {
    this.#most = most;
  }

  get(key: string): V | undefined {
    return this.#recent.get(key) ?? this.#older.get(key);
  }

  /** Entries that went to make room, newer ones of their keys left out; undefined where none did. */
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
