import type { QuarantineCode } from "./journal.ts";
import type { FetchedInput } from "./process-batch.ts";
import type { InputTopic } from "./topics.ts";

type Position = { readonly topic: InputTopic; readonly offset: number };

/**
 * Counts commits that failed at one position. The second failure leads to batches of one input; an
 * input that is too large to write even alone goes to the dead letters.
 */
export class FailureCount {
  #at: Position | null = null;
  #count = 0;
  /** Inputs still to be committed one at a time. */
  #singles = 0;
  #tooLarge: Position | null = null;

  get isSingle(): boolean {
    return this.#singles > 0;
  }

  noteFailure(first: FetchedInput | undefined, inputs: number, oversize: boolean): void {
    if (first === undefined) return;
    const at: Position = { topic: first.topic, offset: first.record.offset };
    this.#count = isSame(this.#at, at) ? this.#count + 1 : 1;
    this.#at = at;
    if (oversize && inputs === 1) this.#tooLarge = at;
    if (oversize || this.#count >= 2) this.#singles = Math.max(this.#singles, inputs);
  }

  noteSuccess(inputs: number): void {
    this.#singles = Math.max(0, this.#singles - inputs);
    this.#at = null;
    this.#count = 0;
    this.#tooLarge = null;
  }

  /** Why this input must go to the dead letters; null: it can be decided. */
  quarantine({ topic, record }: FetchedInput): QuarantineCode | null {
    return isSame(this.#tooLarge, { topic, offset: record.offset }) ? "too_large" : null;
  }
}

function isSame(left: Position | null, right: Position): boolean {
  return left !== null && left.topic === right.topic && left.offset === right.offset;
}
