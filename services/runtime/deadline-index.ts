/**
 * Tells which conversations need a tick, and when. A heap whose entries may be outdated: an entry
 * counts only while `#deadlines` has the same deadline for its key.
 */
type Entry = { readonly deadlineMs: number; readonly key: string };

/** Fewer outdated entries than this are not worth rebuilding the heap. */
const OUTDATED_FEW = 1_000;

export class DeadlineIndex {
  readonly #deadlines = new Map<string, number>();
  #heap: Entry[] = [];

  set(key: string, deadlineMs: number | undefined): void {
    if (this.#deadlines.get(key) === deadlineMs) return;
    if (deadlineMs === undefined) {
      this.#deadlines.delete(key);
      return;
    }
    this.#deadlines.set(key, deadlineMs);
    this.#push({ deadlineMs, key });
    if (this.#heap.length > 2 * this.#deadlines.size + OUTDATED_FEW) this.#renew();
  }

  /**
   * Most calls end long before their deadline; without this their entries would stay until then.
   */
  #renew(): void {
    const entries = [...this.#deadlines].map(([key, deadlineMs]) => ({ deadlineMs, key }));
    // A sorted array is a heap.
    this.#heap = entries.sort((a, b) => a.deadlineMs - b.deadlineMs);
  }

  /** Number of entries, including outdated ones. */
  get size(): number {
    return this.#heap.length;
  }

  /** The earliest deadline. */
  nextMs(): number | undefined {
    for (;;) {
      const top = this.#heap[0];
      if (top === undefined) return undefined;
      if (this.#deadlines.get(top.key) === top.deadlineMs) return top.deadlineMs;
      this.#pop();
    }
  }

  /** Keys whose deadline has passed, with that deadline, in no order. Does not change the index. */
  due(nowMs: number): readonly Entry[] {
    const due: Entry[] = [];
    const seen = new Set<string>();
    this.#collect(0, nowMs, due, seen);
    return due;
  }

  /** Walks only the part of the heap that is due: all children of a later entry are later. */
  #collect(at: number, nowMs: number, due: Entry[], seen: Set<string>): void {
    const stack = [at];
    for (let index = stack.pop(); index !== undefined; index = stack.pop()) {
      const entry = this.#heap[index];
      if (entry === undefined || entry.deadlineMs > nowMs) continue;
      if (this.#deadlines.get(entry.key) === entry.deadlineMs && !seen.has(entry.key)) {
        seen.add(entry.key);
        due.push(entry);
      }
      stack.push(2 * index + 1, 2 * index + 2);
    }
  }

  #push(entry: Entry): void {
    const heap = this.#heap;
    let at = heap.length;
    heap.push(entry);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const above = heap[parent];
      if (above === undefined || above.deadlineMs <= entry.deadlineMs) break;
      heap[at] = above;
      at = parent;
    }
    heap[at] = entry;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    let at = 0;
    for (;;) {
      const child = this.#smallerChild(at);
      const below = heap[child];
      if (below === undefined || below.deadlineMs >= last.deadlineMs) break;
      heap[at] = below;
      at = child;
    }
    heap[at] = last;
  }

  #smallerChild(at: number): number {
    const left = 2 * at + 1;
    const l = this.#heap[left];
    const r = this.#heap[left + 1];
    return l !== undefined && r !== undefined && r.deadlineMs < l.deadlineMs ? left + 1 : left;
  }
}
