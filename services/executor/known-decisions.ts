import { LapseIndex } from "../runtime/lapse-index.ts";

/**
 * Decisions that are not to be run, each for as long as its call might be begun: with its record read once
 * more, whoever looks at the time would not begin it any more.
 */
export class KnownDecisions {
  /** Results do not say how long a call might be begun: until its own record is come to, or for the longest there is. */
  readonly #told: Set<string>;
  readonly #toldUntilMs: number;
  readonly #untilMs = new Map<string, number>();
  readonly #spans = new LapseIndex();

  constructor(told: Iterable<string>, toldUntilMs: number) {
    this.#told = new Set(told);
    this.#toldUntilMs = toldUntilMs;
  }

  /** How many are remembered. */
  get size(): number {
    return this.#told.size + this.#untilMs.size;
  }

  add(decisionId: string, notAfterMs: number): void {
    this.#untilMs.set(decisionId, notAfterMs);
    this.#spans.add(decisionId, notAfterMs);
  }

  /** Of a call whose record was come to: whether it is not to be run. */
  recall(decisionId: string, notAfterMs: number): boolean {
    if (this.#told.delete(decisionId)) this.add(decisionId, notAfterMs);
    return this.#untilMs.has(decisionId);
  }

  /** Forgets calls that are not begun any more: some of them, later all. */
  forget(nowMs: number): void {
    if (nowMs > this.#toldUntilMs) this.#told.clear();
    this.#spans.forget(nowMs, (decisionId) => {
      const untilMs = this.#untilMs.get(decisionId);
      if (untilMs !== undefined && untilMs >= nowMs) return untilMs;
      this.#untilMs.delete(decisionId);
      return undefined;
    });
  }
}
