/**
 * Tags and marks of keys, by which one that is not there is told apart from those that are without looking at them: they lie
 * outside the processor's caches when a conversation was not met for a while. A tag is 32 bits of a key; of it two marks are
 * made, each one of 32 bits, and what has any of several marks is told in two numbers (a Bloom filter with two hashes, each
 * with bits of its own; Bloom 1970). With one alone half of the new keys were looked for among twenty.
 */

/** Called as a function: see docs/style.md, "Loops over texts". */
const { charCodeAt } = String.prototype;

export const NO_MARKS = 0;
export const ANY_MARK = -1;

/** 2 to the 32nd by the golden ratio: its product spreads what lies close together (Knuth, TAOCP 3, 6.4). */
const SPREAD = 0x9e3779b1;
const RADIX = 31;
/** What is left of 32 bits is a number below 32. */
const DROPPED_BITS = 27;
/** The bits below those are the other mark's. */
const OTHER_DROPPED_BITS = 22;
/** Letters at either end that a tag is made of. */
const ENDS = 3;

/** Of the first and the last letters: digests differ in the first, names that are counted up in the last. */
export function tagOf(key: string): number {
  const { length } = key;
  if (length < 2 * ENDS) return 0;
  let sum = charCodeAt.call(key, 0);
  sum = (sum * RADIX + charCodeAt.call(key, 1)) | 0;
  sum = (sum * RADIX + charCodeAt.call(key, 2)) | 0;
  sum = (sum * RADIX + charCodeAt.call(key, length - 3)) | 0;
  sum = (sum * RADIX + charCodeAt.call(key, length - 2)) | 0;
  sum = (sum * RADIX + charCodeAt.call(key, length - 1)) | 0;
  return Math.imul(sum, SPREAD);
}

export function markOf(tag: number): number {
  return 1 << (tag >>> DROPPED_BITS);
}

export function otherMarkOf(tag: number): number {
  // Only the last five bits of a number of places count.
  return 1 << (tag >>> OTHER_DROPPED_BITS);
}

/** The marks of several keys. */
export interface Marks {
  readonly marks: number;
  readonly otherMarks: number;
}

/** Whether one of the keys that these are the marks of may have this tag; false: none has. */
export function mayHold({ marks, otherMarks }: Marks, tag: number): boolean {
  return (marks & markOf(tag)) !== 0 && (otherMarks & otherMarkOf(tag)) !== 0;
}
