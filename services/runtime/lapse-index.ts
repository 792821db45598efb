const SPAN_MS = 3_600_000;

/**
 * Which conversations may have lapsed: keys by the hour in which their state said it would. A key may
 * stand in several hours; whether it has lapsed is asked of its state.
 */
export class LapseIndex {
  readonly #hours = new Map<number, Set<string>>();

  add(key: string, dropAtMs: number): void {
    const hour = Math.floor(dropAtMs / SPAN_MS);
    const keys = this.#hours.get(hour);
    if (keys === undefined) this.#hours.set(hour, new Set([key]));
    else keys.add(key);
  }

  /** Keys of all hours that have begun. Does not change the index. */
  candidates(nowMs: number): readonly string[] {
    const hour = Math.floor(nowMs / SPAN_MS);
    const found: string[] = [];
    for (const [begun, keys] of this.#hours) if (begun <= hour) found.push(...keys);
    return found;
  }

  /** Forgets the hours that are over; what has not lapsed by then must be added again. */
  forget(nowMs: number): void {
    const hour = Math.floor(nowMs / SPAN_MS);
    for (const begun of [...this.#hours.keys()]) if (begun < hour) this.#hours.delete(begun);
  }
}
