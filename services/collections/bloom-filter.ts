/**
 * A small Bloom filter (Bloom 1970) that shows that a key is absent without a look at the entries,
 * which are outside the processor's caches when a conversation was idle for a while. A tag is 32
 * bits of a key. Two marks, of one bit each, are derived from a tag, and the marks of several keys
 * fit into two numbers. With one mark alone the entries were still searched for half of the new
 * keys among twenty.
 */

/** Called as a function: see docs/style.md, "Loops over texts". */
const { charCodeAt } = String.prototype;

export const NO_MARKS = 0;
export const ANY_MARK = -1;

/**
 * 2 to the 32nd divided by the golden ratio: the product spreads values that are close together
 * (Knuth, TAOCP 3, 6.4).
 */
const SPREAD = 0x9e3779b1;
const RADIX = 31;
/** What remains of 32 bits is a number below 32. */
const DROPPED_BITS = 27;
/** The five bits below those make the other mark. */
const OTHER_DROPPED_BITS = 22;
/** Letters at each end of a key that its tag is made of. */
const ENDS = 3;

/**
 * Derived from the first and the last letters: digests differ in the first, numbered names in the
 * last.
 */
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
  // A shift uses only the last five bits of its count.
  return 1 << (tag >>> OTHER_DROPPED_BITS);
}

/** The combined marks of several keys. */
export interface Marks {
  readonly marks: number;
  readonly otherMarks: number;
}

/** Whether one of the marked keys may have this tag; false: none has. */
export function mayHold({ marks, otherMarks }: Marks, tag: number): boolean {
  return (marks & markOf(tag)) !== 0 && (otherMarks & otherMarkOf(tag)) !== 0;
}
