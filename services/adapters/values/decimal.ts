import { Big } from "big.js";

/** Most characters of the plain notation, since an exponent could produce pages of zeros. */
const MAX_LENGTH = 100;

/** Exponents with more digits are out of bounds, whatever the number. */
const MAX_EXPONENT_DIGITS = 4;

/** No exponent and no leading zeros, so only trailing zeros are dropped. Most amounts match. */
const PLAIN = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?$/;

const DIGIT_ZERO = 0x30;
const POINT = 0x2e;

/**
 * Normalizes a decimal to exact plain notation: `1e2` and `100.00` become `100`, `0.10` becomes
 * `0.1`, `-0` becomes `0`. Null for text that is no decimal number, or whose result exceeds 100
 * characters.
 */
export function decimal(text: string): string | null {
  if (text.length > MAX_LENGTH) return null;
  if (PLAIN.test(text)) return withoutZeros(text);
  const exponent = /[eE][+-]?([0-9]+)$/.exec(text)?.[1] ?? "";
  if (exponent.length > MAX_EXPONENT_DIGITS) return null;
  try {
    const number = new Big(text);
    if (number.eq(0)) return "0";
    const plain = number.toFixed();
    return plain.length > MAX_LENGTH ? null : plain;
  } catch {
    return null;
  }
}

function withoutZeros(text: string): string {
  let end = text.length;
  if (text.includes(".")) {
    while (text.charCodeAt(end - 1) === DIGIT_ZERO) end -= 1;
    if (text.charCodeAt(end - 1) === POINT) end -= 1;
  }
  const short = text.slice(0, end);
  return short === "-0" ? "0" : short;
}
