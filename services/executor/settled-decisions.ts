import { LapseIndex } from "../runtime/lapse-index.ts";

/**
 * Decisions that must not run (again), each remembered for as long as its call might be begun. If
 * the record is read later than that, the call's own time limit stops it.
 */
export class SettledDecisions {
  /**
   * Results do not say how long a call might be begun, so these stay until the call's own record is
   * read, or for the longest possible time.
   */
  readonly #reported: Set<string>;
  readonly #reportedUntilMs: number;
  readonly #untilMs = new Map<string, number>();
  readonly #spans = new LapseIndex();

  constructor(reported: Iterable<string>, reportedUntilMs: number) {
    this.#reported = new Set(reported);
    this.#reportedUntilMs = reportedUntilMs;
  }

  /** Number of remembered decisions. */
  get size(): number {
    return this.#reported.size + this.#untilMs.size;
  }

  add(decisionId: string, notAfterMs: number): void {
    this.#untilMs.set(decisionId, notAfterMs);
    this.#spans.add(decisionId, notAfterMs);
  }

  /** Whether a call must not run; called when the call's record is read. */
  recall(decisionId: string, notAfterMs: number): boolean {
    if (this.#reported.delete(decisionId)) this.add(decisionId, notAfterMs);
    return this.#untilMs.has(decisionId);
  }

  /** Forgets calls that nobody begins any more: some of them early, later all. */
  forget(nowMs: number): void {
    if (nowMs > this.#reportedUntilMs) this.#reported.clear();
    this.#spans.forget(nowMs, (decisionId) => {
      const untilMs = this.#untilMs.get(decisionId);
      if (untilMs !== undefined && untilMs >= nowMs) return untilMs;
      this.#untilMs.delete(decisionId);
      return undefined;
    });
  }
}
