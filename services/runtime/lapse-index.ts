/** What is looked at once and again while it passes: short, as many conversations may lapse in it. */
const SPAN_MS = 10_000;

/**
 * Which conversations may have lapsed: keys by the span of time in which their state said it would. A key
 * stands in one span, or in several where it was added for an earlier one; a state that lives on since it
 * was added stands too early, and is moved when its span is over. Whether it has lapsed is asked of its state.
 */
export class LapseIndex {
  readonly #spans = new Map<number, Set<string>>();
  /** None before it has keys. */
  #first = Number.POSITIVE_INFINITY;

  /** For a key that is new, or lapses sooner than it was added for. */
  add(key: string, dropAtMs: number): void {
    this.#put(key, spanOf(dropAtMs));
  }

  /** Keys of all spans that have begun. Does not change the index. */
  candidates(nowMs: number): readonly string[] {
    const keys: string[] = [];
    for (const span of this.#begun(spanOf(nowMs))) {
      for (const key of this.#spans.get(span) ?? []) keys.push(key);
    }
    return keys;
  }

  /** Spans with keys up to this one. */
  #begun(last: number): readonly number[] {
    const begun: number[] = [];
    // After a long rest, or a clock that was set right, there are more spans than keys.
    if (last - this.#first > this.#spans.size) {
      for (const span of this.#spans.keys()) if (span <= last) begun.push(span);
      return begun;
    }
    for (let span = this.#first; span <= last; span += 1) {
      if (this.#spans.has(span)) begun.push(span);
    }
    return begun;
  }

  /**
   * Empties the spans that are over. What is left of them is moved to where it lapses now, or stays a
   * candidate where its time is over and something else keeps it.
   *
   * @param dropAtOf undefined: the key is gone.
   */
  forget(nowMs: number, dropAtOf: (key: string) => number | undefined): void {
    const now = spanOf(nowMs);
    for (const span of this.#begun(now - 1)) {
      const keys = this.#spans.get(span) ?? [];
      this.#spans.delete(span);
      for (const key of keys) {
        const dropAtMs = dropAtOf(key);
        if (dropAtMs !== undefined) this.#put(key, Math.max(spanOf(dropAtMs), now));
      }
    }
    this.#first = Math.max(this.#first, now);
  }

  #put(key: string, span: number): void {
    const keys = this.#spans.get(span);
    if (keys === undefined) this.#spans.set(span, new Set([key]));
    else keys.add(key);
    if (span < this.#first) this.#first = span;
  }
}

function spanOf(timeMs: number): number {
  return Math.floor(timeMs / SPAN_MS);
}
