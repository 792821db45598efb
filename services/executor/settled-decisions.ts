import { LapseIndex } from "../runtime/lapse-index.ts";

/**
 * Decisions that are not to be run, each for as long as its call might be begun: with its record read once
 * more, whoever looks at the time would not begin it any more.
 */
export class SettledDecisions {
  /** Results do not say how long a call might be begun: until its own record is come to, or for the longest there is. */
  readonly #reported: Set<string>;
  readonly #reportedUntilMs: number;
  readonly #untilMs = new Map<string, number>();
  readonly #spans = new LapseIndex();

  constructor(reported: Iterable<string>, reportedUntilMs: number) {
    this.#reported = new Set(reported);
    this.#reportedUntilMs = reportedUntilMs;
  }

  /** How many are remembered. */
  get size(): number {
    return this.#reported.size + this.#untilMs.size;
  }

  add(decisionId: string, notAfterMs: number): void {
    this.#untilMs.set(decisionId, notAfterMs);
    this.#spans.add(decisionId, notAfterMs);
  }

  /** Of a call whose record was come to: whether it is not to be run. */
  recall(decisionId: string, notAfterMs: number): boolean {
    if (this.#reported.delete(decisionId)) this.add(decisionId, notAfterMs);
    return this.#untilMs.has(decisionId);
  }

  /** Forgets calls that are not begun any more: some of them, later all. */
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
