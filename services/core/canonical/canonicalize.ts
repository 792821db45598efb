/**
 * The one JSON reader: a walk over the text that stops at the first thing that two parsers could
 * read differently, and reports where. It decides what is accepted, and builds the canonical text
 * from slices of the input: a part that is canonical already is not printed again.
 */

import { type CanonicalFailure, shown } from "./failure.ts";
import type { CanonicalLimits } from "./limits.ts";
import { isDigit, isShortWholeNumber, numberEnd, readNumber } from "./number.ts";
import { readString } from "./read-string.ts";
import { createReader, type Reader, skipSpace, stop, stopUnexpected } from "./reader.ts";

export type CanonicalText = {
  readonly ok: true;
  /** RFC 8785 text of the value; its UTF-8 bytes are what is hashed. */
  readonly text: string;
  readonly keyCount: number;
  readonly depth: number;
};

/**
 * The position of a member in the text, from its key to its value; `printed` is its canonical text
 * where that differs.
 */
type Member = {
  readonly key: string;
  readonly from: number;
  readonly to: number;
  readonly printed: string | undefined;
};

const FORBIDDEN_KEYS: ReadonlySet<string> = new Set(["__proto__", "constructor", "prototype"]);
const FORBIDDEN_UNITS_MIN = "__proto__".length;

const QUOTE = 0x22;
const COMMA = 0x2c;
const MINUS = 0x2d;
const COLON = 0x3a;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

const NUMBER_REMEDIES = {
  number_not_exact: "would change as a double, send it as a string",
  number_too_precise: "has more than 17 significant digits, send fewer or send it as a string",
  number_overflow: "is too large for a double, send it as a string",
  number_underflow: "is too small for a double, send 0 or send it as a string",
} as const;

/** The RFC 8785 text of the one JSON value in the text. */
export function canonicalize(
  text: string,
  limits: CanonicalLimits,
): CanonicalText | CanonicalFailure {
  const reader = createReader(text, limits);
  skipSpace(reader);
  const from = reader.at;
  if (walkValue(reader)) {
    const canonical = reader.printed ?? text.slice(from, reader.at);
    skipSpace(reader);
    if (reader.at === text.length) {
      return { ok: true, text: canonical, keyCount: reader.keyCount, depth: reader.depth };
    }
    stop(reader, "syntax", "text goes on after the value, send one JSON value alone");
  }
  return reader.failure as CanonicalFailure;
}

/**
 * Passes a value; false at a failure. `reader.printed` is then its canonical text, where it
 * differs.
 */
function walkValue(reader: Reader): boolean {
  const first = reader.text.charCodeAt(reader.at);
  reader.printed = undefined;
  if (first === QUOTE) return walkString(reader);
  if (first === OPEN_OBJECT || first === OPEN_ARRAY) return walkNested(reader, first);
  if (isDigit(first) || first === MINUS) return walkNumber(reader);
  return walkLiteral(reader);
}

function walkString(reader: Reader): boolean {
  const to = reader.isPlain ? reader.text.indexOf('"', reader.at + 1) : -1;
  if (to === -1) return readString(reader) !== undefined;
  reader.at = to + 1;
  return true;
}

function walkLiteral(reader: Reader): boolean {
  const { text, at } = reader;
  if (text.startsWith("true", at) || text.startsWith("null", at)) reader.at += 4;
  else if (text.startsWith("false", at)) reader.at += 5;
  else return stopUnexpected(reader, "a value");
  return true;
}

function walkNumber(reader: Reader): boolean {
  const { text, at } = reader;
  const to = numberEnd(text, at);
  if (to === at) return stopUnexpected(reader, "a value");
  reader.at = to;
  if (isShortWholeNumber(text, at, to)) return true;
  const token = text.slice(at, to);
  const value = readNumber(token);
  if (typeof value !== "number") {
    return stop(reader, value, `number ${shown(token)} ${NUMBER_REMEDIES[value]}`, at);
  }
  const printed = String(value);
  if (printed !== token) reader.printed = printed;
  return true;
}

function walkNested(reader: Reader, first: number): boolean {
  const { maxDepth } = reader.limits;
  if (reader.openCount === maxDepth) {
    const message = `values are nested more than ${maxDepth} levels deep, send a flatter value`;
    return stop(reader, "too_deep", message);
  }
  reader.openCount += 1;
  if (reader.openCount > reader.depth) reader.depth = reader.openCount;
  const isWalked = first === OPEN_OBJECT ? walkObject(reader) : walkArray(reader);
  reader.openCount -= 1;
  return isWalked;
}

function walkArray(reader: Reader): boolean {
  const elements: Member[] = [];
  let isCanonical = !isSpaceBehind(reader);
  let hasMore = reader.text.charCodeAt(reader.at) !== CLOSE_ARRAY;
  if (!hasMore) reader.at += 1;
  while (hasMore) {
    const from = reader.at;
    if (!walkValue(reader)) return false;
    const { at: to, printed } = reader;
    elements.push({ key: "", from, to, printed });
    const unit = skipSpace(reader);
    if (unit !== COMMA && unit !== CLOSE_ARRAY) return stopUnexpected(reader, "`,` or `]`");
    if (reader.at !== to || printed !== undefined) isCanonical = false;
    hasMore = unit === COMMA;
    if (!hasMore) reader.at += 1;
    else if (isSpaceBehind(reader)) isCanonical = false;
  }
  reader.printed = isCanonical ? undefined : `[${joined(reader.text, elements)}]`;
  return true;
}

function walkObject(reader: Reader): boolean {
  const members: Member[] = [];
  let isCanonical = !isSpaceBehind(reader);
  let hasMore = reader.text.charCodeAt(reader.at) !== CLOSE_OBJECT;
  if (!hasMore) reader.at += 1;
  while (hasMore) {
    const count = members.length;
    const member = walkMember(reader, members);
    if (member === undefined) return false;
    const unit = skipSpace(reader);
    if (unit !== COMMA && unit !== CLOSE_OBJECT) return stopUnexpected(reader, "`,` or `}`");
    const isInOrder = members[count] === member;
    if (!isInOrder || reader.at !== member.to || member.printed !== undefined) isCanonical = false;
    hasMore = unit === COMMA;
    if (!hasMore) reader.at += 1;
    else if (isSpaceBehind(reader)) isCanonical = false;
  }
  reader.printed = isCanonical ? undefined : `{${joined(reader.text, members)}}`;
  return true;
}

/** Passes a member and inserts it among the earlier ones in order. */
function walkMember(reader: Reader, members: Member[]): Member | undefined {
  const from = reader.at;
  const key = walkKey(reader);
  if (key === undefined) return undefined;
  const index = findInsertionIndex(members, key);
  if (index === -1) {
    const message = `key ${shown(key)} stands twice in one object, send it once`;
    stop(reader, "duplicate_key", message, from);
    return undefined;
  }
  const member = walkMemberValue(reader, key, from);
  if (member === undefined) return undefined;
  if (index === members.length) members.push(member);
  else members.splice(index, 0, member);
  return member;
}

/** Passes a bracket or comma and the white space after it. */
function isSpaceBehind(reader: Reader): boolean {
  reader.at += 1;
  const { at } = reader;
  skipSpace(reader);
  return reader.at !== at;
}

function walkKey(reader: Reader): string | undefined {
  const { at: start, text } = reader;
  if (text.charCodeAt(start) !== QUOTE) {
    stopUnexpected(reader, "a key in double quotes");
    return undefined;
  }
  reader.printed = undefined;
  const key = readString(reader);
  if (key === undefined) return undefined;
  const { maxKeys } = reader.limits;
  reader.keyCount += 1;
  if (reader.keyCount > maxKeys) {
    stop(reader, "too_many_keys", `more than ${maxKeys} keys, send fewer`, start);
    return undefined;
  }
  if (key.length >= FORBIDDEN_UNITS_MIN && FORBIDDEN_KEYS.has(key)) {
    const message = `key ${shown(key)} is not allowed, use another name`;
    stop(reader, "forbidden_key", message, start);
    return undefined;
  }
  return key;
}

/** Passes the colon and the value after a key that begins at `from`. */
function walkMemberValue(reader: Reader, key: string, from: number): Member | undefined {
  const { text, at: keyTo, printed: printedKey } = reader;
  if (skipSpace(reader) !== COLON) {
    stopUnexpected(reader, "`:` after the key");
    return undefined;
  }
  const colon = reader.at;
  reader.at += 1;
  skipSpace(reader);
  const valueFrom = reader.at;
  if (!walkValue(reader)) return undefined;
  const { at: to, printed } = reader;
  const isApart = colon !== keyTo || valueFrom !== colon + 1;
  if (!isApart && printed === undefined && printedKey === undefined) {
    return { key, from, to, printed };
  }
  const name = printedKey ?? text.slice(from, keyTo);
  return { key, from, to, printed: `${name}:${printed ?? text.slice(valueFrom, to)}` };
}

/** Where a key belongs among sorted members, by UTF-16 code units; -1 where it exists already. */
function findInsertionIndex(members: readonly Member[], key: string): number {
  let low = 0;
  let high = members.length;
  const last = members[high - 1];
  // Most members come in order.
  if (last === undefined || last.key < key) return high;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const there = (members[middle] as Member).key;
    if (there === key) return -1;
    if (there < key) low = middle + 1;
    else high = middle;
  }
  return low;
}

function joined(text: string, members: readonly Member[]): string {
  let canonical = "";
  for (const { from, to, printed } of members) {
    if (canonical !== "") canonical += ",";
    canonical += printed ?? text.slice(from, to);
  }
  return canonical;
}
