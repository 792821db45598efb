/**
 * An object taken apart: its members as canonical texts, without the values of those that nobody needs. For an
 * envelope around a text that is read by itself.
 */

import { memberKey, memberText, memberValue, walkMember } from "./fast-reader.ts";
import { newWalk, type Walk } from "./fast-walk.ts";
import type { JsonValue } from "./json-value.ts";
import type { CanonicalLimits } from "./limits.ts";

/** Called as a function in loops: see docs/style.md, "Loops over texts". */
const { charCodeAt } = String.prototype;

/** A member; without a value, what its strings say was not looked at. `keyCount` and `depth` are those of its value. */
export type Member = {
  readonly key: string;
  readonly text: string;
  /** Of the member that it was asked of, where that is an object or an array. */
  readonly value: JsonValue | undefined;
  readonly keyCount: number;
  readonly depth: number;
};

/** An envelope has few; more are left to the strict reader. */
const MEMBERS_MAX = 32;

const OPEN_OBJECT = 0x7b;
const OPEN_ARRAY = 0x5b;
const COMMA = 0x2c;
const CLOSE_OBJECT = 0x7d;

/**
 * The members of an object with nothing around it, in the order of the text, and the value of the one called `valued`;
 * undefined where the strict reader has to look. The strings in the texts of the others are left to JSON.parse: without
 * it nothing is known to be JSON. Never throws.
 */
export function readMembers(
  text: string,
  limits: CanonicalLimits,
  valued: string,
): readonly Member[] | undefined {
  const walk = newWalk(text, limits, 0);
  if (walk === undefined || charCodeAt.call(text, 0) !== OPEN_OBJECT) return undefined;
  const members: Member[] = [];
  try {
    for (let at = 1; members.length < MEMBERS_MAX; ) {
      const keysBefore = walk.keyCount + 1;
      walk.depth = 1;
      at = walkMember(walk, at);
      if (at < 0) return undefined;
      const member = walkedMember(walk, walk.keyCount - keysBefore, valued);
      if (isAmong(members, member.key)) return undefined;
      members.push(member);
      const unit = charCodeAt.call(text, at);
      at += 1;
      if (unit !== COMMA) {
        const isWhole = unit === CLOSE_OBJECT && at === text.length;
        return isWhole && walk.keyCount <= limits.maxKeys ? members : undefined;
      }
    }
    return undefined;
  } catch {
    return undefined;
  }
}

function walkedMember(walk: Walk, keyCount: number, valued: string): Member {
  const key = memberKey(walk);
  const text = memberText(walk);
  const value = key === valued ? containerIn(walk, text) : undefined;
  return { key, text, value, keyCount, depth: walk.depth - 1 };
}

function containerIn(walk: Walk, form: string): JsonValue | undefined {
  const first = charCodeAt.call(form, 0);
  return first === OPEN_OBJECT || first === OPEN_ARRAY ? memberValue(walk, form) : undefined;
}

function isAmong(members: readonly Member[], key: string): boolean {
  for (const member of members) {
    if (member.key === key) return true;
  }
  return false;
}
