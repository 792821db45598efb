/**
 * The common case, fast: one walk that finds where the parts of a text stand and whether it is canonical already. Where
 * it is not certain it gives up, and the strict reader decides instead.
 *
 * F1 It checks all that JSON.parse lets pass: duplicate and forbidden keys, numbers, lone surrogates, depth, count of
 *    keys, and what stands between tokens. The inside of strings is left to `isPlain`
 *    (`fast-value.ts`) and JSON.parse.
 * F2 Whatever it accepts, the strict reader accepts with the same text; a property test holds the two together.
 *
 * Offsets go in and come out as numbers, `NO` where it gives up; what is found goes into a table of integers, and nothing
 * is sliced before the end. Constants and table stand in this file, because an import is read from memory at each use;
 * `| 0` tells the engine that what a call gave is an integer, which it would convert to a double and back for the table.
 * No `charCodeAt` reads beyond the end, as the engine no longer inlines it after that: the text ends with a bracket.
 */

import {
  compareSlices,
  isForbidden,
  literalEnd,
  nextBackslash,
  plainNumberEnd,
  readEscaped,
  readOtherNumber,
  type Token,
  withComma,
} from "./fast-tokens.ts";
import { isPlain, nameAt, valueOfParts } from "./fast-value.ts";
import { type FastRead, newWalk, skipSpace, toToken, type Walk } from "./fast-walk.ts";
import type { JsonValue } from "./json-value.ts";
import type { CanonicalLimits } from "./limits.ts";

/** See docs/style.md, "Loops over texts". */
const { charCodeAt } = String.prototype;
/** Offsets of a member's key, between its quotes. */
const KEY_FROM = 0;
const KEY_TO = 1;
/** Offsets of the value as it was written. */
const VALUE_FROM = 2;
const VALUE_TO = 3;
/** One of the kinds below. */
const KIND = 4;
/** Slot of the next value in the same container, or `NONE`. */
const NEXT = 5;
/** Slot of a container's first value, or `NONE`. */
const CHILD = 6;
/** First units of a member's key as one number, in the order of keys; equal heads tell nothing. */
const HEAD = 7;

/** Integers a slot takes: a power of two, for the sake of the multiplication. */
const SLOT = 8;

/** Slot of the outermost value. No list contains it, so that its number can stand for the end of a list. */
const ROOT = 0;
const NONE = 0;

/** The value is copied as it was written, or was printed anew: then its text is in `Walk.pieces`. */
const COPIED = 0;
const PRINTED = 1;
const OBJECT = 2;
const ARRAY = 3;

/** Members that are passed to find a place; beyond, the strict reader sorts better. */
const MAX_STEPS = 64;

/** Values in one text; a text with more goes to the strict reader. */
const MAX_VALUES = 8192;

const CAPACITY = MAX_VALUES * SLOT;

const PARTS = new Int32Array(CAPACITY);

const NO = -1;

const SPACE = 0x20;
const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** What begins from here on is no number. */
const LETTERS = 0x61;

/**
 * Value and canonical text of one object or array with nothing around it; undefined where the strict reader has to
 * look. Never throws.
 */
export function readFast(text: string, limits: CanonicalLimits): FastRead | undefined {
  try {
    const walk = newWalk(text, limits, ROOT + SLOT);
    if (walk === undefined) return undefined;
    PARTS[ROOT + VALUE_FROM] = 0;
    if (walkValue(walk, 0, charCodeAt.call(text, 0), 0, ROOT) !== text.length) return undefined;
    if (walk.keyCount > limits.maxKeys) return undefined;
    const canonical = walk.asItStands ? text : valueText(walk, ROOT, PARTS[ROOT + KIND] as number);
    const value: JsonValue = isPlain(text)
      ? valueOfParts(text, canonical, PARTS, ROOT)
      : JSON.parse(canonical);
    return { ok: true, value, text: canonical, keyCount: walk.keyCount, depth: walk.depth };
  } catch {
    return undefined;
  }
}

/** Slot of the member that was walked over last, where an object is taken apart one by one. */
const MEMBER = ROOT + SLOT;

/** Steps over a member of the outermost object and the space around it, to a place within the text. */
export function walkMember(walk: Walk, start: number): number {
  walk.stamp += 1;
  walk.free = MEMBER;
  const at = walkKey(walk, walk.text, start, MEMBER);
  const to = at === NO ? NO : walkItem(walk, walk.text, at, 1, MEMBER);
  return to === NO ? NO : toToken(walk, walk.text, to);
}

export function memberKey({ text }: Walk): string {
  return nameAt(text, PARTS, MEMBER);
}

/** Canonical text of the member's value, whose strings were not looked into. */
export function memberText(walk: Walk): string {
  return valueText(walk, MEMBER, PARTS[MEMBER + KIND] as number);
}

/** The member's value, an object or an array, as long as its parts are in the table; of a plain text (`fast-value.ts`). */
export function memberValue({ text }: Walk, canonical: string): JsonValue {
  return valueOfParts(text, canonical, PARTS, MEMBER);
}

/** Each walking function steps over what it is named after and gives the offset behind it. */
function walkValue(walk: Walk, at: number, first: number, open: number, slot: number): number {
  const { text } = walk;
  if (first === OPEN_OBJECT || first === OPEN_ARRAY) return walkNested(walk, at, first, open, slot);
  PARTS[slot + KIND] = COPIED;
  return first >= LETTERS ? literalEnd(text, at, first) : walkNumber(walk, at, first, slot);
}

/** What differs from its canonical form makes what contains it differ; what does not is copied whole. */
function walkNested(walk: Walk, at: number, first: number, open: number, slot: number): number {
  const before = walk.asItStands;
  const isObject = first === OPEN_OBJECT;
  walk.asItStands = true;
  if (!enter(walk, open + 1, slot, isObject ? OBJECT : ARRAY)) return NO;
  const to = isObject ? walkObject(walk, at, open + 1, slot) : walkArray(walk, at, open + 1, slot);
  // No other value can end where the text does: its last is a bracket.
  if (to === walk.text.length && slot !== ROOT) return NO;
  if (walk.asItStands) {
    PARTS[slot + KIND] = COPIED;
    walk.asItStands = before;
  }
  return to;
}

function walkObject(walk: Walk, start: number, open: number, parent: number): number {
  const { text } = walk;
  let at = toToken(walk, text, start + 1);
  if (charCodeAt.call(text, at) === CLOSE_OBJECT) return at + 1;
  /** Of the greatest key until now, and where its successor's slot is put down. */
  let greatest = NONE;
  let greatestHead = -1;
  let link = parent + CHILD;
  let before = NONE;
  let unit = COMMA;
  while (unit === COMMA) {
    const slot = walk.free;
    at = walkKey(walk, text, at, slot) | 0;
    if (at === NO) return NO;
    at = walkItem(walk, text, at, open, slot) | 0;
    if (at === NO) return NO;
    // Read once for both what it may be: each reading asks anew how the text is kept.
    unit = charCodeAt.call(text, at);
    if (unit <= SPACE) {
      at = skipSpace(walk, text, at) | 0;
      unit = charCodeAt.call(text, at);
    }
    PARTS[slot + NEXT] = NONE;
    const head = PARTS[slot + HEAD] as number;
    if (head > greatestHead || (head === greatestHead && compareKeys(text, greatest, slot) < 0)) {
      PARTS[link] = greatest = slot;
      link = slot + NEXT;
      greatestHead = head;
    } else if (!insert(walk, parent, before, slot)) return NO;
    before = slot;
    at += 1;
  }
  return unit === CLOSE_OBJECT ? at : NO;
}

/** Steps over key and colon. */
function walkKey(walk: Walk, text: string, start: number, slot: number): number {
  let at = start;
  let unit = charCodeAt.call(text, at);
  if (unit <= SPACE) {
    at = skipSpace(walk, text, at) | 0;
    unit = charCodeAt.call(text, at);
  }
  if (unit !== QUOTE) return NO;
  const from = at + 1;
  const to = text.indexOf('"', from) | 0;
  // A key with an escape is compared by what it says, not by how it is written.
  if (to === NO || to > walk.backslash) return NO;
  const length = to - from;
  if (isForbidden(text, from, length)) return NO;
  walk.keyCount += 1;
  const free = slot + SLOT;
  walk.free = free;
  if (free >= CAPACITY) return NO;
  PARTS[slot + KEY_FROM] = from;
  PARTS[slot + KEY_TO] = to;
  PARTS[slot + HEAD] = headOf(text, from, length);
  at = to + 1;
  unit = charCodeAt.call(text, at);
  if (unit <= SPACE) {
    at = skipSpace(walk, text, at) | 0;
    unit = charCodeAt.call(text, at);
  }
  return unit === COLON ? at + 1 : NO;
}

/** Steps over a value and the space before it, to a place within the text. */
function walkItem(walk: Walk, text: string, start: number, open: number, slot: number): number {
  let at = start;
  let unit = charCodeAt.call(text, at);
  if (unit <= SPACE) {
    at = skipSpace(walk, text, at) | 0;
    unit = charCodeAt.call(text, at);
  }
  PARTS[slot + VALUE_FROM] = at;
  if (unit === QUOTE) at = walkString(walk, text, at, slot) | 0;
  else at = walkValue(walk, at, unit, open, slot) | 0;
  PARTS[slot + VALUE_TO] = at;
  return at;
}

/**
 * Puts a member before the first with a greater key; false where it finds its own, or looks too long. Members often
 * stand in runs of the right order, so it looks first behind the one `before` it in the text.
 */
function insert(walk: Walk, parent: number, before: number, slot: number): boolean {
  walk.asItStands = false;
  let link = compareKeys(walk.text, before, slot) < 0 ? before + NEXT : parent + CHILD;
  // The greatest key is not below this one, so that the list does not end before the place is found.
  for (let step = 0; step < MAX_STEPS; step += 1) {
    const next = PARTS[link] as number;
    const order = compareKeys(walk.text, next, slot);
    if (order === 0) return false;
    if (order > 0) {
      PARTS[slot + NEXT] = next;
      PARTS[link] = slot;
      return true;
    }
    link = next + NEXT;
  }
  return false;
}

function walkArray(walk: Walk, start: number, open: number, parent: number): number {
  const { text } = walk;
  let at = toToken(walk, text, start + 1);
  if (charCodeAt.call(text, at) === CLOSE_ARRAY) return at + 1;
  let link = parent + CHILD;
  let unit = COMMA;
  while (unit === COMMA) {
    const slot = walk.free;
    walk.free = slot + SLOT;
    if (walk.free >= CAPACITY) return NO;
    PARTS[slot + NEXT] = NONE;
    PARTS[link] = slot;
    link = slot + NEXT;
    at = walkItem(walk, text, at, open, slot) | 0;
    if (at === NO) return NO;
    at = toToken(walk, text, at);
    unit = charCodeAt.call(text, at);
    at += 1;
  }
  return unit === CLOSE_ARRAY ? at : NO;
}

function enter(walk: Walk, open: number, slot: number, kind: number): boolean {
  if (open > walk.limits.maxDepth) return false;
  if (open > walk.depth) walk.depth = open;
  PARTS[slot + KIND] = kind;
  PARTS[slot + CHILD] = NONE;
  return true;
}

function walkString(walk: Walk, text: string, from: number, slot: number): number {
  const to = text.indexOf('"', from + 1) | 0;
  if (to === NO) return NO;
  if (to > walk.backslash) return walkEscaped(walk, from, slot);
  PARTS[slot + KIND] = COPIED;
  return to + 1;
}

function walkEscaped(walk: Walk, from: number, slot: number): number {
  const token = readEscaped(walk.text, from, walk.backslash);
  if (token !== undefined) walk.backslash = nextBackslash(walk.text, token.to);
  return placed(walk, token, slot);
}

function walkNumber(walk: Walk, from: number, first: number, slot: number): number {
  const { text } = walk;
  const to = plainNumberEnd(text, from, first) | 0;
  return to === NO ? placed(walk, readOtherNumber(text, from), slot) : to;
}

function placed(walk: Walk, token: Token | undefined, slot: number): number {
  if (token === undefined) return NO;
  PARTS[slot + KIND] = token.printed === undefined ? COPIED : PRINTED;
  if (token.printed !== undefined) {
    walk.asItStands = false;
    walk.pieces ??= new Map();
    walk.pieces.set(slot, token.printed);
  }
  return token.to;
}

/** By UTF-16 code units, as RFC 8785 sorts. */
function compareKeys(text: string, left: number, right: number): number {
  const order = (PARTS[left + HEAD] as number) - (PARTS[right + HEAD] as number);
  if (order !== 0) return order;
  const from = PARTS[left + KEY_FROM] as number;
  const to = PARTS[left + KEY_TO] as number;
  const otherFrom = PARTS[right + KEY_FROM] as number;
  const otherTo = PARTS[right + KEY_TO] as number;
  return compareSlices(text, from, to - from, otherFrom, otherTo - otherFrom);
}

/** Thirty bits: all of the first unit and most of the second, so that the number stays a small integer. */
function headOf(text: string, from: number, length: number): number {
  if (length === 0) return 0;
  return (
    (charCodeAt.call(text, from) << 14) | (length === 1 ? 0 : charCodeAt.call(text, from + 1) >> 2)
  );
}

/** The slices of the text, in order. */
function valueText(walk: Walk, slot: number, kind: number): string {
  if (kind === OBJECT) return objectText(walk, slot);
  if (kind === ARRAY) return arrayText(walk, slot);
  if (kind === PRINTED) return walk.pieces?.get(slot) as string;
  return walk.text.slice(PARTS[slot + VALUE_FROM] as number, PARTS[slot + VALUE_TO] as number);
}

/** Members that stand one after the other in the text as they do here are copied as one: long slices are cheaper than many. */
function objectText(walk: Walk, parent: number): string {
  const { text } = walk;
  let out = "{";
  /** What is to be copied, up to and without the comma behind it; `NO`: nothing. */
  let from = 0;
  let to = NO;
  for (let slot = PARTS[parent + CHILD] as number; slot !== NONE; ) {
    const next = PARTS[slot + NEXT] as number;
    const keyFrom = (PARTS[slot + KEY_FROM] as number) - 1;
    if (keyFrom !== to + 1) {
      if (to !== NO) out += withComma(text, from, to);
      from = keyFrom;
    }
    to = PARTS[slot + VALUE_TO] as number;
    const isApart = PARTS[slot + VALUE_FROM] !== (PARTS[slot + KEY_TO] as number) + 2;
    if (isApart || PARTS[slot + KIND] !== COPIED) {
      out += memberAfter(walk, from, slot);
      if (next !== NONE) out += ",";
      to = NO;
    }
    slot = next;
  }
  return to === NO ? `${out}}` : `${out}${text.slice(from, to)}}`;
}

/** A member that is not copied whole, and what stands from `from` to its key. */
function memberAfter(walk: Walk, from: number, slot: number): string {
  const { text } = walk;
  const keyTo = (PARTS[slot + KEY_TO] as number) + 1;
  const value = valueText(walk, slot, PARTS[slot + KIND] as number);
  if (charCodeAt.call(text, keyTo) === COLON) return text.slice(from, keyTo + 1) + value;
  return `${text.slice(from, keyTo)}:${value}`;
}

function arrayText(walk: Walk, parent: number): string {
  let out = "[";
  for (let slot = PARTS[parent + CHILD] as number; slot !== NONE; ) {
    const next = PARTS[slot + NEXT] as number;
    out += valueText(walk, slot, PARTS[slot + KIND] as number);
    if (next !== NONE) out += ",";
    slot = next;
  }
  return `${out}]`;
}
