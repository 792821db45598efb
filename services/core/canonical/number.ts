/**
 * The number rule: a number token is read as the nearest double, and only where that loses nothing.
 *
 * - An integer must be spelled by its own canonical form. Below 1e21 the form has all its digits, so the integer
 *   must be a double to the last digit; from 1e21 on the form has an exponent and the integer must be that decimal.
 * - A fraction may have at most 17 significant digits, which is what a printed double needs.
 * - Nothing may overflow, and nothing but zero may become zero.
 */

import type { CanonicalCode } from "./failure.ts";

/** Significant digits that suffice to name any double, IEEE 754. */
const DOUBLE_DIGITS = 17;

/** RFC 8785 prints numbers from here on with an exponent. */
const EXPONENT_FROM = 1e21;

type Decimal = {
  /** Significant digits without leading and trailing zeros; empty for zero. */
  readonly digits: string;
  /** The value is `digits` times ten to this power. */
  readonly power: number;
};

type NumberProblem = Extract<CanonicalCode, `number_${string}`>;

/** Reads a token that follows the JSON grammar for numbers; the caller has checked that. */
export function readNumber(token: string): number | NumberProblem {
  const value = Number(token);
  if (!Number.isFinite(value)) return "number_overflow";
  const decimal = decimalOf(token);
  if (decimal.digits === "") return 0;
  if (value === 0) return "number_underflow";
  if (decimal.power < 0) {
    return decimal.digits.length > DOUBLE_DIGITS ? "number_too_precise" : value;
  }
  return isExactInteger(value, decimal) ? value : "number_not_exact";
}

/** Whether an integral number survives being printed, so that no reader sees another integer. */
export function isExactNumber(value: number): boolean {
  if (Number.isSafeInteger(value)) return true;
  if (!Number.isFinite(value)) return false;
  const decimal = decimalOf(String(value));
  return decimal.power < 0 || isExactInteger(value, decimal);
}

/** Whether a number token spells a whole number, in whatever spelling. */
export function isWholeNumberText(token: string): boolean {
  const { digits, power } = decimalOf(token);
  return digits === "" || power >= 0;
}

function isExactInteger(value: number, decimal: Decimal): boolean {
  const printed = decimalOf(String(value));
  if (printed.digits !== decimal.digits || printed.power !== decimal.power) return false;
  if (Math.abs(value) >= EXPONENT_FROM) return true;
  return BigInt(Math.abs(value)) === BigInt(decimal.digits) * 10n ** BigInt(decimal.power);
}

function decimalOf(token: string): Decimal {
  const start = token.charCodeAt(0) === 0x2d ? 1 : 0;
  const mark = token.search(/[eE]/);
  const mantissa = mark === -1 ? token.slice(start) : token.slice(start, mark);
  const exponent = mark === -1 ? 0 : Number(token.slice(mark + 1));
  const point = mantissa.indexOf(".");
  const all = point === -1 ? mantissa : mantissa.slice(0, point) + mantissa.slice(point + 1);
  const fractionLength = point === -1 ? 0 : mantissa.length - point - 1;
  // Loops, because /0+$/ is quadratic on a long token of zeros.
  let first = 0;
  while (first < all.length && all.charCodeAt(first) === 0x30) first += 1;
  let end = all.length;
  while (end > first && all.charCodeAt(end - 1) === 0x30) end -= 1;
  return { digits: all.slice(first, end), power: exponent - fractionLength + (all.length - end) };
}

export function isDigit(unit: number): boolean {
  return unit >= 0x30 && unit <= 0x39;
}

/** The position after the JSON number that begins here; `from` where there is none. */
export function numberEnd(text: string, from: number): number {
  const first = text.charCodeAt(from) === 0x2d ? from + 1 : from;
  const whole = text.charCodeAt(first) === 0x30 ? first + 1 : digitsEnd(text, first);
  if (whole === first) return from;
  let end = whole;
  if (text.charCodeAt(end) === 0x2e) {
    const fraction = digitsEnd(text, end + 1);
    if (fraction > end + 1) end = fraction;
  }
  // `e` and `E` differ in one bit.
  if ((text.charCodeAt(end) | 0x20) !== 0x65) return end;
  const sign = text.charCodeAt(end + 1);
  const power = sign === 0x2b || sign === 0x2d ? end + 2 : end + 1;
  const exponent = digitsEnd(text, power);
  return exponent > power ? exponent : end;
}

function digitsEnd(text: string, from: number): number {
  let at = from;
  while (isDigit(text.charCodeAt(at))) at += 1;
  return at;
}

/** The most digits with which every number is exact. */
const EXACT_DIGITS = 15;

/** Whether a token consists of few digits alone, as most do: it is its own canonical form. */
export function isShortWholeNumber(text: string, from: number, to: number): boolean {
  return to - from <= EXACT_DIGITS && digitsEnd(text, from) >= to;
}
