import { Big } from "big.js";

/** Longest plain notation, in characters; beyond it an exponent would spell out pages of zeros. */
const MAX_LENGTH = 100;

/** Exponents with more digits than this are out of bounds whatever stands before them. */
const MAX_EXPONENT_DIGITS = 4;

/**
 * Exact decimal in plain notation: `1e2` and `100.00` give `100`, `0.10` gives `0.1`, `-0` gives `0`. Null for what is
 * no decimal number, and for what would take more than 100 characters.
 */
export function decimal(text: string): string | null {
  if (text.length > MAX_LENGTH) return null;
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
