/** Normalizers to numbers and exact decimals. One grammar for all: digits, point, exponent, no separators. */

import { isExactNumber, isWholeNumberText, readNumber } from "../canonical/number.ts";
import { cannot, kindOf, type Normalizer, normalized } from "./normalizer.ts";

const DECIMAL_TEXT = /^[+-]?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;

const NOT_EXACT = "`to_int` needs a number that a double holds exactly";

/** A whole number, from a number or from text such as `100`, `100.00`, `1e2`. */
export const toInt: Normalizer = (value) => {
  if (typeof value === "number") {
    if (!Number.isInteger(value)) return cannot("`to_int` needs a whole number, found a fraction");
    return isExactNumber(value) ? normalized(value) : cannot(NOT_EXACT);
  }
  if (typeof value !== "string") return cannot(`\`to_int\` needs a number, found ${kindOf(value)}`);
  const token = numberToken(value);
  if (token === undefined) return cannot("`to_int` needs decimal digits, found other text");
  if (!isWholeNumberText(token)) return cannot("`to_int` needs a whole number, found a fraction");
  const read = readNumber(token);
  return typeof read === "number" ? normalized(read) : cannot(NOT_EXACT);
};

/** A number that a double holds, by the number rule of the canonical form. */
export const toNumber: Normalizer = (value) => {
  if (typeof value === "number") return normalized(value);
  if (typeof value !== "string") {
    return cannot(`\`to_number\` needs a number, found ${kindOf(value)}`);
  }
  const token = numberToken(value);
  if (token === undefined) return cannot("`to_number` needs decimal digits, found other text");
  const read = readNumber(token);
  return typeof read === "number"
    ? normalized(read)
    : cannot("`to_number` needs a number that a double holds");
};

/** Exact decimal text: `100.00`, `1e2` and 100 give `100`. */
export const decimal: Normalizer = (value, capabilities) => {
  if (typeof value !== "string" && typeof value !== "number") {
    return cannot(`\`decimal\` needs a number or text, found ${kindOf(value)}`);
  }
  const token = numberToken(String(value));
  const text = token === undefined ? null : capabilities.decimal(token);
  return text === null ? cannot("`decimal` needs a decimal number") : normalized(text);
};

/** The text as a JSON number token; undefined where it is none up to a plus sign and leading zeros. */
function numberToken(text: string): string | undefined {
  if (!DECIMAL_TEXT.test(text)) return undefined;
  if (text.charCodeAt(0) > DIGIT_0) return text;
  const sign = text.startsWith("-") ? "-" : "";
  let at = sign !== "" || text.startsWith("+") ? 1 : 0;
  while (text.charAt(at) === "0" && isDigit(text.charCodeAt(at + 1))) at += 1;
  return `${sign}${text.slice(at)}`;
}

const DIGIT_0 = 0x30;

function isDigit(unit: number): boolean {
  return unit >= 0x30 && unit <= 0x39;
}
