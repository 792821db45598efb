/**
 * One of 32 bits by which a key that is not there is told apart from most that are, without looking at those (a Bloom
 * filter with one hash, Bloom 1970). It is made of the first and the last letters: digests differ in the first, names
 * that are counted up in the last.
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

export function markOf(key: string): number {
  const last = key.length - 1;
  if (last < 3) return ANY_MARK;
  let sum = charCodeAt.call(key, 0);
  sum = sum * RADIX + charCodeAt.call(key, 1);
  sum = sum * RADIX + charCodeAt.call(key, last - 1);
  sum = sum * RADIX + charCodeAt.call(key, last);
  return 1 << (Math.imul(sum, SPREAD) >>> DROPPED_BITS);
}

/** Whether one of the keys that these are the marks of may be this one; false: none is. */
export function mayHold(marks: number, key: string): boolean {
  return marks !== NO_MARKS && (marks & markOf(key)) !== 0;
}
