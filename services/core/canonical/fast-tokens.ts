/** The tokens that the fast reader does not meet in most texts. */

import { readNumber } from "./number.ts";

/** Called as a function in loops: see docs/style.md, "Loops over texts". */
const { charCodeAt } = String.prototype;

/** A token that was read: the offset behind it, and its canonical text where that is not as it stands. */
export type Token = { readonly to: number; readonly printed: string | undefined };

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const ZERO = 0x30;
const NINE = 0x39;
const POINT = 0x2e;
const LARGE_E = 0x45;
const SMALL_E = 0x65;

const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;

/**
 * A string whose first backslash is known. The short escapes are canonical; a string with any other is decoded and
 * printed again, and may throw.
 */
export function readEscaped(text: string, from: number, backslash: number): Token | undefined {
  let isCanonical = true;
  let at = backslash;
  // Unit by unit: a search for the next quote after each escape would be quadratic.
  for (let unit = BACKSLASH; unit !== QUOTE; unit = charCodeAt.call(text, at)) {
    if (unit === BACKSLASH) {
      const letter = charCodeAt.call(text, at + 1);
      if (letter === 0x75 || letter === 0x2f) isCanonical = false;
      at += 1;
    }
    at += 1;
    if (at >= text.length) return undefined;
  }
  const to = at + 1;
  if (isCanonical) return { to, printed: undefined };
  const decoded = JSON.parse(text.slice(from, to)) as string;
  return isWellFormed(decoded) ? { to, printed: JSON.stringify(decoded) } : undefined;
}

/** From 1e-6 on a number has no exponent in its canonical form. */
const FRACTION_DIGITS = 6;
/** A decimal of so many digits is the shortest that names its double: no two of them name the same (DBL_DIG of C). */
const SAFE_DIGITS = 15;

/**
 * The offset behind a number from 0 on that is canonical as it stands, given its first unit; -1 where that takes a
 * closer look.
 */
export function plainNumberEnd(text: string, from: number, first: number): number {
  if (first < ZERO || first > NINE) return -1;
  // No other digit follows a zero that is the first.
  let at = first === ZERO ? from + 1 : digitsEnd(text, from + 1);
  let unit = charCodeAt.call(text, at);
  if (unit === POINT) {
    const end = digitsEnd(text, at + 1);
    if (end - at - 1 > FRACTION_DIGITS || charCodeAt.call(text, end - 1) === ZERO) return -1;
    if (end === at + 1) return -1;
    at = end;
    unit = charCodeAt.call(text, at);
  }
  const goesOn = (unit >= ZERO && unit <= NINE) || unit === SMALL_E || unit === LARGE_E;
  return goesOn || at - from > SAFE_DIGITS ? -1 : at;
}

function digitsEnd(text: string, from: number): number {
  let at = from;
  for (let unit = charCodeAt.call(text, at); unit >= ZERO && unit <= NINE; ) {
    at += 1;
    unit = charCodeAt.call(text, at);
  }
  return at;
}

/** Any number of the grammar that the number rule accepts. */
export function readOtherNumber(text: string, from: number): Token | undefined {
  NUMBER.lastIndex = from;
  const token = NUMBER.exec(text)?.[0];
  if (token === undefined) return undefined;
  const value = readNumber(token);
  if (typeof value !== "number") return undefined;
  const printed = String(value);
  return { to: from + token.length, printed: printed === token ? undefined : printed };
}

/** `o` of `__proto__` and `prototype`, `t` of `constructor`: a slice for each key would cost more than its walk. */
const FIFTH_OF_9 = 0x6f;
const FIFTH_OF_11 = 0x74;

/** Whether a key, given as offset and length, would reach a prototype. */
export function isForbidden(text: string, from: number, length: number): boolean {
  if (length !== 9 && length !== 11) return false;
  if (charCodeAt.call(text, from + 4) !== (length === 9 ? FIFTH_OF_9 : FIFTH_OF_11)) return false;
  const key = text.slice(from, from + length);
  return key === "__proto__" || key === "prototype" || key === "constructor";
}

/** Order of two slices of a text, each given as offset and length, by UTF-16 code units. */
export function compareSlices(
  text: string,
  left: number,
  leftLength: number,
  right: number,
  rightLength: number,
): number {
  const length = Math.min(leftLength, rightLength);
  for (let at = 0; at < length; at += 1) {
    const order = charCodeAt.call(text, left + at) - charCodeAt.call(text, right + at);
    if (order !== 0) return order;
  }
  return leftLength - rightLength;
}

/** Where the next backslash stands, or the length of the text. */
export function nextBackslash(text: string, from: number): number {
  const at = text.indexOf("\\", from);
  return at === -1 ? text.length : at;
}

/** ES2024, which Node has had since version 20. */
export function isWellFormed(text: string): boolean {
  return (text as string & { isWellFormed(): boolean }).isWellFormed();
}

/** The offset behind `true`, `false` or `null`, given their first unit; -1 where there is none of them. */
export function literalEnd(text: string, at: number, first: number): number {
  if (first === 0x74) return areNext(text, at, 0x72, 0x75, 0x65) ? at + 4 : -1;
  if (first === 0x6e) return areNext(text, at, 0x75, 0x6c, 0x6c) ? at + 4 : -1;
  const isFalse = first === 0x66 && areNext(text, at, 0x61, 0x6c, 0x73);
  return isFalse && charCodeAt.call(text, at + 4) === 0x65 ? at + 5 : -1;
}

/** Whether three units follow one within the text; none is read behind one that differs, as the text could end there. */
function areNext(text: string, at: number, one: number, two: number, three: number): boolean {
  return (
    charCodeAt.call(text, at + 1) === one &&
    charCodeAt.call(text, at + 2) === two &&
    charCodeAt.call(text, at + 3) === three
  );
}

/** A slice of the text, and a comma behind it: the text's own where there is one. */
export function withComma(text: string, from: number, to: number): string {
  return charCodeAt.call(text, to) === COMMA
    ? text.slice(from, to + 1)
    : `${text.slice(from, to)},`;
}
