/**
 * Width of a span in ms. Conversations that lapse in the current span are checked repeatedly, so it
 * is short.
 */
const SPAN_MS = 10_000;

/**
 * Tells which conversations may have lapsed: it has keys by the span of time in which their state
 * is due to lapse. A key is in one span, or in several where it was added again for an earlier one.
 * A state that lives longer than when it was added is in too early a span, and is moved when that
 * span is over. Only the state itself says whether it has lapsed.
 */
export class LapseIndex {
  readonly #spans = new Map<number, Set<string>>();
  /** Infinity: the index has no keys yet. */
  #first = Number.POSITIVE_INFINITY;

  /** To be called for a key that is new, or that lapses sooner than when it was added. */
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

  /** Spans that have keys, up to this one. */
  #begun(last: number): readonly number[] {
    const begun: number[] = [];
    // After a long idle time, or after the clock was corrected, there are more spans than keys.
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
   * Empties the spans that are over. Each remaining key is moved to the span in which it lapses
   * now, or stays a candidate where its time is over and something else keeps it alive.
   *
   * @param dropAtOf returns undefined where the key is gone.
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
