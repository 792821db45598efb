/**
 * How much of a line is looked at for rules, by all the commands in it together. Owns what is left of it.
 * Lines stand in lines, and a command is known by several texts: without an end, what is looked at
 * would be many times the line.
 */

import type { OptionGap } from "./given-texts.ts";

/** Texts that rules see of one line. */
const TEXTS_MAX = 8_192;

/** Characters of all these texts: sixteen times the longest line. */
const CHARACTERS_MAX = 1_048_576;

/** Every gap is tried with each option that the rules ask about. */
const TEXTS_OF_GAP = 16;

export class Effort {
  #texts = TEXTS_MAX;
  #characters = CHARACTERS_MAX;

  /** The text, which counts. */
  spend(text: string): string {
    this.#texts -= 1;
    this.#characters -= text.length;
    return text;
  }

  spendOnGaps(gaps: readonly OptionGap[]): void {
    this.#texts -= gaps.length * TEXTS_OF_GAP;
    const length = gaps.reduce((sum, { before, after }) => sum + before.length + after.length, 0);
    this.#characters -= length * TEXTS_OF_GAP;
  }

  /** What was read up to here is not all of it: nothing more is read. */
  get isSpent(): boolean {
    return this.#texts < 0 || this.#characters < 0;
  }
}
