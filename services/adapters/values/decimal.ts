import { Big } from "big.js";

/** Longest plain notation, in characters; beyond it an exponent would spell out pages of zeros. */
const MAX_LENGTH = 100;

/** Exponents with more digits than this are out of bounds whatever stands before them. */
const MAX_EXPONENT_DIGITS = 4;

/** No exponent and no zeros in front, so nothing is to be done but to drop zeros at the end. Most amounts are so. */
const PLAIN = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?$/;

const DIGIT_ZERO = 0x30;
const POINT = 0x2e;

/**
 * Exact decimal in plain notation: `1e2` and `100.00` give `100`, `0.10` gives `0.1`, `-0` gives `0`. Null for what is
 * no decimal number, and for what would take more than 100 characters.
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
