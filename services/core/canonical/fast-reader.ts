/**
 * The common case, fast: finds the canonical text of a JSON text by moving slices of it, and leaves the rest to the
 * engine's own parser. It gives up (undefined) wherever it is not certain, and the strict reader decides instead.
 *
 * F1 What it checks itself is all that JSON.parse lets pass: structure between tokens, duplicate and forbidden keys,
 *    numbers, lone surrogates, depth, count of keys. What it leaves to JSON.parse is the inside of strings.
 * F2 Whatever it accepts, the strict reader accepts with the same text; a property test holds the two together.
 */

import type { JsonValue } from "./json-value.ts";
import type { CanonicalLimits } from "./limits.ts";
import { readNumber } from "./number.ts";

export type FastRead = {
  readonly value: JsonValue;
  readonly text: string;
  readonly keyCount: number;
  readonly depth: number;
};

type Walk = {
  readonly text: string;
  readonly limits: CanonicalLimits;
  at: number;
  /** Where the next backslash stands, or the length of the text. */
  backslash: number;
  keyCount: number;
  depth: number;
};

/** What a walking function gives: canonical text, or one of these two. */
type Piece = string | undefined;

/** The slice of the input that was walked is canonical as it stands. No canonical text is empty. */
const AS_IT_STANDS = "";

/** Offsets of one object's members, four each: key from, key to, value from, value to. */
type Members = { readonly offsets: number[]; readonly texts: string[] };

const QUOTE = 0x22;
const COMMA = 0x2c;
const MINUS = 0x2d;
const POINT = 0x2e;
const COLON = 0x3a;
const BACKSLASH = 0x5c;

/** Any decimal of so many significant digits is one double, and that double prints as this decimal. */
const SAFE_DIGITS = 15;

const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;

/** Value and canonical text of a text, or undefined where the strict reader has to look at it. Never throws. */
export function readFast(text: string, limits: CanonicalLimits): FastRead | undefined {
  if (!isWellFormed(text)) return undefined;
  const walk: Walk = {
    text,
    limits,
    at: 0,
    backslash: nextBackslash(text, 0),
    keyCount: 0,
    depth: 0,
  };
  try {
    const from = skipSpace(walk);
    const piece = walkValue(walk, 0);
    if (piece === undefined) return undefined;
    const to = walk.at;
    if (skipSpace(walk) < text.length) return undefined;
    const canonical = piece === AS_IT_STANDS ? text.slice(from, to) : piece;
    const value = JSON.parse(canonical) as JsonValue;
    return { value, text: canonical, keyCount: walk.keyCount, depth: walk.depth };
  } catch {
    return undefined;
  }
}

function walkValue(walk: Walk, open: number): Piece {
  const first = unitAt(walk.text, walk.at);
  if (first === QUOTE) return walkString(walk);
  if (first === 0x7b) return walkObject(walk, open + 1);
  if (first === 0x5b) return walkArray(walk, open + 1);
  if (first === 0x74) return walkWord(walk, "true");
  if (first === 0x66) return walkWord(walk, "false");
  if (first === 0x6e) return walkWord(walk, "null");
  return walkNumber(walk);
}

function walkWord(walk: Walk, word: string): Piece {
  if (!walk.text.startsWith(word, walk.at)) return undefined;
  walk.at += word.length;
  return AS_IT_STANDS;
}

function walkObject(walk: Walk, open: number): Piece {
  const { text } = walk;
  const start = walk.at;
  if (!enter(walk, open)) return undefined;
  if (unitAt(text, walk.at) === 0x7d) {
    walk.at += 1;
    return walk.at === start + 2 ? AS_IT_STANDS : "{}";
  }
  const members: Members = { offsets: [], texts: [] };
  let length = 1;
  let asItStands = true;
  let isOrdered = true;
  let lastFrom = -1;
  let lastTo = -1;
  for (;;) {
    const from = walk.at;
    const to = walkKey(walk);
    if (to === -1) return undefined;
    if (lastFrom !== -1 && compareKeys(text, lastFrom, lastTo, from, to) >= 0) isOrdered = false;
    lastFrom = from;
    lastTo = to;
    const valueFrom = walk.at;
    const piece = walkValue(walk, open);
    if (piece === undefined) return undefined;
    const valueTo = walk.at;
    if (piece !== AS_IT_STANDS) asItStands = false;
    length += valueTo - valueFrom + to - from + 2;
    members.offsets.push(from, to, valueFrom, valueTo);
    members.texts.push(piece);
    const unit = unitAt(text, skipSpace(walk));
    walk.at += 1;
    if (unit === 0x7d) break;
    if (unit !== COMMA) return undefined;
    skipSpace(walk);
  }
  // Every byte accounted for by brackets, keys, colons, values and commas: there was no white space.
  if (isOrdered && asItStands && length === walk.at - start) return AS_IT_STANDS;
  return isOrdered ? inGivenOrder(text, members) : inKeyOrder(text, members);
}

/** Steps over key, colon and space; the offset after the key's closing quote, or -1. */
function walkKey(walk: Walk): number {
  const { text } = walk;
  const from = walk.at;
  if (unitAt(text, from) !== QUOTE) return -1;
  walk.keyCount += 1;
  if (walk.keyCount > walk.limits.maxKeys) return -1;
  const end = closingQuote(text, from + 1);
  if (end > walk.backslash || end === text.length) return -1;
  if (isForbidden(text, from + 1, end)) return -1;
  walk.at = end + 1;
  if (unitAt(text, skipSpace(walk)) !== COLON) return -1;
  walk.at += 1;
  skipSpace(walk);
  return end + 1;
}

function walkArray(walk: Walk, open: number): Piece {
  const { text } = walk;
  const start = walk.at;
  if (!enter(walk, open)) return undefined;
  if (unitAt(text, walk.at) === 0x5d) {
    walk.at += 1;
    return walk.at === start + 2 ? AS_IT_STANDS : "[]";
  }
  let out = "[";
  let asItStands = true;
  let length = 1;
  for (;;) {
    const from = walk.at;
    const piece = walkValue(walk, open);
    if (piece === undefined) return undefined;
    const to = walk.at;
    if (piece !== AS_IT_STANDS) asItStands = false;
    length += to - from + 1;
    out += piece === AS_IT_STANDS ? text.slice(from, to) : piece;
    const unit = unitAt(text, skipSpace(walk));
    walk.at += 1;
    if (unit === 0x5d) break;
    if (unit !== COMMA) return undefined;
    out += ",";
    skipSpace(walk);
  }
  return asItStands && length === walk.at - start ? AS_IT_STANDS : `${out}]`;
}

/** Steps over an opening bracket and space. */
function enter(walk: Walk, open: number): boolean {
  if (open > walk.limits.maxDepth) return false;
  if (open > walk.depth) walk.depth = open;
  walk.at += 1;
  skipSpace(walk);
  return true;
}

function walkString(walk: Walk): Piece {
  const { text } = walk;
  const from = walk.at;
  const end = closingQuote(text, from + 1);
  if (end < walk.backslash) {
    walk.at = end + 1;
    return AS_IT_STANDS;
  }
  return walkEscaped(walk, from);
}

/** A string with escapes. The short ones are canonical; any other is decoded and printed again. */
function walkEscaped(walk: Walk, from: number): Piece {
  const { text } = walk;
  let at = walk.backslash;
  let asItStands = true;
  while (unitAt(text, at) === BACKSLASH) {
    const letter = unitAt(text, at + 1);
    if (letter === 0x75 || letter === 0x2f) asItStands = false;
    at += 2;
    while (at < text.length) {
      const unit = unitAt(text, at);
      if (unit === QUOTE || unit === BACKSLASH) break;
      at += 1;
    }
  }
  if (unitAt(text, at) !== QUOTE) return undefined;
  walk.at = at + 1;
  walk.backslash = nextBackslash(text, at);
  if (asItStands) return AS_IT_STANDS;
  const decoded = JSON.parse(text.slice(from, at + 1)) as string;
  return isWellFormed(decoded) ? JSON.stringify(decoded) : undefined;
}

function walkNumber(walk: Walk): Piece {
  const { text } = walk;
  const from = walk.at;
  let at = unitAt(text, from) === MINUS ? from + 1 : from;
  const first = at;
  const lead = unitAt(text, at);
  while (isDigit(unitAt(text, at))) at += 1;
  const unit = unitAt(text, at);
  const isPlainLead = lead > 0x30 || (at === first + 1 && first === from);
  if (
    isPlainLead &&
    at > first &&
    at - first <= SAFE_DIGITS &&
    unit !== POINT &&
    (unit | 0x20) !== 0x65
  ) {
    walk.at = at;
    return AS_IT_STANDS;
  }
  return walkRareNumber(walk);
}

function walkRareNumber(walk: Walk): Piece {
  NUMBER.lastIndex = walk.at;
  const token = NUMBER.exec(walk.text)?.[0];
  if (token === undefined) return undefined;
  const value = readNumber(token);
  if (typeof value !== "number") return undefined;
  walk.at += token.length;
  const printed = String(value);
  return printed === token ? AS_IT_STANDS : printed;
}

function inGivenOrder(text: string, members: Members): string {
  let out = "{";
  for (let member = 0; member < members.texts.length; member += 1) {
    out += member === 0 ? "" : ",";
    out += memberText(text, members, member);
  }
  return `${out}}`;
}

function inKeyOrder(text: string, members: Members): Piece {
  const { offsets } = members;
  const order = members.texts.map((_, member) => member);
  let isDuplicate = false;
  order.sort((a, b) => {
    const sign = compareKeys(
      text,
      offsets[a * 4] as number,
      offsets[a * 4 + 1] as number,
      offsets[b * 4] as number,
      offsets[b * 4 + 1] as number,
    );
    if (sign === 0) isDuplicate = true;
    return sign;
  });
  if (isDuplicate) return undefined;
  let out = "{";
  for (let at = 0; at < order.length; at += 1) {
    out += at === 0 ? "" : ",";
    out += memberText(text, members, order[at] as number);
  }
  return `${out}}`;
}

function memberText(text: string, members: Members, member: number): string {
  const { offsets } = members;
  const first = member * 4;
  const from = offsets[first] as number;
  const to = offsets[first + 1] as number;
  const valueFrom = offsets[first + 2] as number;
  const piece = members.texts[member] as string;
  if (piece !== AS_IT_STANDS) return `${text.slice(from, to)}:${piece}`;
  const valueTo = offsets[first + 3] as number;
  if (valueFrom === to + 1) return text.slice(from, valueTo);
  return `${text.slice(from, to)}:${text.slice(valueFrom, valueTo)}`;
}

function compareKeys(text: string, aFrom: number, aTo: number, bFrom: number, bTo: number): number {
  const length = Math.min(aTo - aFrom, bTo - bFrom);
  // Without the closing quotes, which are no part of the keys.
  for (let at = 1; at < length - 1; at += 1) {
    const difference = unitAt(text, aFrom + at) - unitAt(text, bFrom + at);
    if (difference !== 0) return difference;
  }
  return aTo - aFrom - (bTo - bFrom);
}

function closingQuote(text: string, from: number): number {
  let at = from;
  const near = Math.min(text.length, from + 24);
  while (at < near) {
    if (unitAt(text, at) === QUOTE) return at;
    at += 1;
  }
  const end = text.indexOf('"', at);
  return end === -1 ? text.length : end;
}

function nextBackslash(text: string, from: number): number {
  const at = text.indexOf("\\", from);
  return at === -1 ? text.length : at;
}

function isForbidden(text: string, from: number, to: number): boolean {
  const length = to - from;
  if (length !== 9 && length !== 11) return false;
  const key = text.slice(from, to);
  return key === "__proto__" || key === "prototype" || key === "constructor";
}

function skipSpace(walk: Walk): number {
  const { text } = walk;
  let at = walk.at;
  let unit = unitAt(text, at);
  while (unit === 0x20 || unit === 0x0a || unit === 0x0d || unit === 0x09) {
    at += 1;
    unit = unitAt(text, at);
  }
  walk.at = at;
  return at;
}

function isDigit(unit: number): boolean {
  return unit >= 0x30 && unit <= 0x39;
}

/** ES2024, which Node has had since version 20. */
function isWellFormed(text: string): boolean {
  return (text as string & { isWellFormed(): boolean }).isWellFormed();
}

/**
 * Code unit, 0 beyond the end. The check is for speed: one `charCodeAt` out of bounds, and the engine no longer inlines
 * it.
 */
function unitAt(text: string, at: number): number {
  return at < text.length ? text.charCodeAt(at) : 0;
}
