/** Numbers as the digits that stand for them, put down without making a text of them. */

const DIGIT_ZERO = 0x30;
/** Of a safe integer. */
export const MOST_DIGITS = 16;
/** What a number is cut into, so that most of its digits are found by the arithmetic of small integers. */
const GROUP_DIGITS = 7;
const GROUP = 10 ** GROUP_DIGITS;

/** Writes the digits of a safe integer that is not negative, from `start` on; there must be room. Gives the place behind them. */
export function digitsInto(into: Uint8Array, start: number, value: number): number {
  if (value < GROUP) return groupInto(into, start, value, countOfDigits(value));
  const high = Math.floor(value / GROUP);
  const end = digitsInto(into, start, high);
  return groupInto(into, end, value - high * GROUP, GROUP_DIGITS);
}

/** Of a whole number of one group. */
function countOfDigits(value: number): number {
  let count = 1;
  for (let magnitude = 10; magnitude <= value; magnitude *= 10) count += 1;
  return count;
}

/** So many digits, zeros in front included. The last one first: it is found by a constant, which costs no division. */
function groupInto(into: Uint8Array, start: number, value: number, digits: number): number {
  let rest = value | 0;
  for (let at = start + digits - 1; at >= start; at -= 1) {
    const tens = (rest / 10) | 0;
    into[at] = DIGIT_ZERO + rest - tens * 10;
    rest = tens;
  }
  return start + digits;
}
