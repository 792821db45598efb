/** What the fast reader gives, and what it knows while it walks over a text. */

import { isWellFormed, nextBackslash } from "./fast-tokens.ts";
import type { JsonValue } from "./json-value.ts";
import { type CanonicalLimits, DEFAULT_CANONICAL_LIMITS } from "./limits.ts";

export type FastRead = {
  readonly ok: true;
  readonly value: JsonValue;
  readonly text: string;
  readonly keyCount: number;
  readonly depth: number;
};

/** A walk over one text; it and the parts in the reader's table hold until the next walk begins. */
export type Walk = {
  /** Another number with each text, and with each member of one that is taken apart: then other parts are in the table. */
  stamp: number;
  text: string;
  limits: CanonicalLimits;
  /** Where the next backslash stands, or the length of the text. */
  backslash: number;
  /** False where the text differs from its canonical form. */
  asItStands: boolean;
  /** Texts of values of kind `PRINTED`, by slot. */
  pieces: Map<number, string> | undefined;
  keyCount: number;
  depth: number;
  /** First slot that is not in use. */
  free: number;
};

const SPACE = 0x20;
const CLOSE_ARRAY = 0x5d;
const CLOSE_OBJECT = 0x7d;

/** One for all walks, as the reader's table is: no walk begins within another. */
const WALK: Walk = {
  stamp: 0,
  text: "",
  limits: DEFAULT_CANONICAL_LIMITS,
  backslash: 0,
  asItStands: true,
  pieces: undefined,
  keyCount: 0,
  depth: 0,
  free: 0,
};

/** The walk over a text, at its start; undefined where it cannot be an object or an array. */
export function newWalk(text: string, limits: CanonicalLimits, free: number): Walk | undefined {
  if (text.length < 2 || !isWellFormed(text)) return undefined;
  const last = text.charCodeAt(text.length - 1);
  if (last !== CLOSE_OBJECT && last !== CLOSE_ARRAY) return undefined;
  WALK.stamp += 1;
  WALK.text = text;
  WALK.limits = limits;
  WALK.backslash = nextBackslash(text, 0);
  WALK.asItStands = true;
  WALK.pieces = undefined;
  WALK.keyCount = 0;
  WALK.depth = 0;
  WALK.free = free;
  return WALK;
}

/** The offset behind white space; a text with any is not canonical. */
export function skipSpace(walk: Walk, text: string, from: number): number {
  walk.asItStands = false;
  let at = from;
  let unit = text.charCodeAt(at);
  while (unit === SPACE || unit === 0x0a || unit === 0x0d || unit === 0x09) {
    at += 1;
    unit = text.charCodeAt(at);
  }
  return at;
}

/** Steps over white space, if there is any. */
export function toToken(walk: Walk, text: string, from: number): number {
  return text.charCodeAt(from) > SPACE ? from : skipSpace(walk, text, from);
}
