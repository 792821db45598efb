/**
 * The value of a text that the fast reader has walked over, made from the parts that it found: for most calls in half of the
 * time of JSON.parse, which reads each unit again and looks each key up among all texts that the engine knows.
 *
 * V1 Only of a text without backslashes and control characters: there, what stands between two quotes is the string.
 * V2 Only of a short text: the engine makes long strings as views that keep the whole text in memory. Nor is a long key
 *    kept as a name: whoever writes proposals could fill the memory with them.
 */

import type { JsonValue } from "./json-value.ts";

/** See docs/style.md, "Loops over texts". */
const { charCodeAt } = String.prototype;

/** Places in a slot of the fast reader's table, described there. */
const KEY_FROM = 0;
const KEY_TO = 1;
const VALUE_FROM = 2;
const VALUE_TO = 3;
const NEXT = 5;
const CHILD = 6;
const HEAD = 7;

/** End of a list. */
const NONE = 0;

/** Units of a text; a conversation's state can keep a string of each of its calls. */
const SHORT = 1024;

const PLAIN = /^[^\0-\x1f\\]*$/;

const QUOTE = 0x22;
const POINT = 0x2e;
const ZERO = 0x30;
const OPEN_ARRAY = 0x5b;
const OPEN_OBJECT = 0x7b;
const FIRST_OF_FALSE = 0x66;
const FIRST_OF_NULL = 0x6e;
const FIRST_OF_TRUE = 0x74;

/** So many digits stay a small integer of the engine while they are read. */
const SMALL_DIGITS = 9;
const POWERS_OF_TEN = [1, 10, 100, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8];

/** Keys met before, each at a place that follows from its letters: as names, which the engine need not look up again. */
const NAMES_BITS = 10;
const NAME_UNITS_MAX = 64;
const NAMES: string[] = new Array<string>(1 << NAMES_BITS).fill("");

/** Whether the values in a text can be made of its parts (V1, V2); then it is JSON if it could be walked over. */
export function isPlain(text: string): boolean {
  return text.length <= SHORT && PLAIN.test(text);
}

/** The object or array of a slot of a plain text, whose form is `canonical`. */
export function valueOfParts(
  text: string,
  canonical: string,
  parts: Int32Array,
  slot: number,
): JsonValue {
  // Joins the pieces, which JSON.parse would do and whoever hashes it must.
  charCodeAt.call(canonical, 0);
  const from = parts[slot + VALUE_FROM] as number;
  return containerAt(text, charCodeAt.call(text, from), parts, slot);
}

function containerAt(text: string, bracket: number, parts: Int32Array, slot: number): JsonValue {
  return bracket === OPEN_OBJECT ? objectAt(text, parts, slot) : arrayAt(text, parts, slot);
}

function objectAt(text: string, parts: Int32Array, parent: number): JsonValue {
  const object: { [key: string]: JsonValue } = {};
  for (let slot = parts[parent + CHILD] as number; slot !== NONE; ) {
    // No key reaches a prototype: the walk has refused those.
    object[nameAt(text, parts, slot)] = valueAt(text, parts, slot);
    slot = parts[slot + NEXT] as number;
  }
  return object;
}

function arrayAt(text: string, parts: Int32Array, parent: number): JsonValue {
  const array: JsonValue[] = [];
  for (let slot = parts[parent + CHILD] as number; slot !== NONE; ) {
    array.push(valueAt(text, parts, slot));
    slot = parts[slot + NEXT] as number;
  }
  return array;
}

function valueAt(text: string, parts: Int32Array, slot: number): JsonValue {
  const from = parts[slot + VALUE_FROM] as number;
  const to = parts[slot + VALUE_TO] as number;
  const first = charCodeAt.call(text, from);
  if (first === QUOTE) return text.slice(from + 1, to - 1);
  if (first === OPEN_OBJECT || first === OPEN_ARRAY) return containerAt(text, first, parts, slot);
  if (first === FIRST_OF_TRUE) return true;
  if (first === FIRST_OF_FALSE) return false;
  if (first === FIRST_OF_NULL) return null;
  return numberAt(text, from, to);
}

/** The number rule has accepted it; `+ 0` makes `-0` the `0` that its form says. */
function numberAt(text: string, from: number, to: number): number {
  if (to - from > SMALL_DIGITS) return Number(text.slice(from, to)) + 0;
  let value = 0;
  let fraction = 0;
  for (let at = from; at < to; at += 1) {
    const unit = charCodeAt.call(text, at);
    if (unit === POINT) {
      fraction = to - at - 1;
    } else {
      const digit = unit - ZERO;
      if (digit < 0 || digit > 9) return Number(text.slice(from, to)) + 0;
      value = value * 10 + digit;
    }
  }
  // Both are whole numbers that a double holds: their quotient is the nearest double, as the text's is.
  return fraction === 0 ? value : value / (POWERS_OF_TEN[fraction] as number);
}

/** The key of a slot, a short one as the engine's own copy: comparing it with a constant is comparing two references. */
export function nameAt(text: string, parts: Int32Array, slot: number): string {
  const from = parts[slot + KEY_FROM] as number;
  const to = parts[slot + KEY_TO] as number;
  const key = text.slice(from, to);
  if (to - from > NAME_UNITS_MAX) return key;
  const letters = (parts[slot + HEAD] as number) + (charCodeAt.call(text, to - 1) << 5) + to - from;
  // Multiplied by 2^32 over the golden ratio, whose upper bits depend on all of the factor's (Knuth, TAOCP 6.4).
  const place = Math.imul(letters, 0x9e3779b1) >>> (32 - NAMES_BITS);
  const known = NAMES[place] as string;
  if (known === key) return known;
  const name = nameOf(key);
  NAMES[place] = name;
  return name;
}

/** The engine's own copy of a name, which keeps no text in memory. */
function nameOf(key: string): string {
  return Object.keys({ [key]: null })[0] as string;
}
