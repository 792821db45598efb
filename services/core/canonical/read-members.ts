/**
 * An object taken apart: its members as canonical texts, without the values of those that nobody needs. For an
 * envelope around a text that is read by itself.
 */

import { memberKey, memberText, walkMember } from "./fast-reader.ts";
import { newWalk } from "./fast-walk.ts";
import type { CanonicalLimits } from "./limits.ts";

/** Called as a function in loops: see docs/style.md, "Loops over texts". */
const { charCodeAt } = String.prototype;

/** A member; what its strings say was not looked at. `keyCount` and `depth` are those of its value. */
export type Member = {
  readonly key: string;
  readonly text: string;
  readonly keyCount: number;
  readonly depth: number;
};

/** An envelope has few; more are left to the strict reader. */
const MEMBERS_MAX = 32;

const OPEN_OBJECT = 0x7b;
const COMMA = 0x2c;
const CLOSE_OBJECT = 0x7d;

/**
 * The members of an object with nothing around it, in the order of the text; undefined where the strict reader has
 * to look. The strings in their texts are left to JSON.parse: without it nothing is known to be JSON. Never throws.
 */
export function readMembers(text: string, limits: CanonicalLimits): readonly Member[] | undefined {
  const walk = newWalk(text, limits, 0);
  if (walk === undefined || charCodeAt.call(text, 0) !== OPEN_OBJECT) return undefined;
  const members: Member[] = [];
  try {
    for (let at = 1; members.length < MEMBERS_MAX; ) {
      const keysBefore = walk.keyCount + 1;
      walk.depth = 1;
      at = walkMember(walk, at);
      if (at < 0) return undefined;
      const key = memberKey(walk);
      if (isAmong(members, key)) return undefined;
      const keyCount = walk.keyCount - keysBefore;
      members.push({ key, text: memberText(walk), keyCount, depth: walk.depth - 1 });
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

function isAmong(members: readonly Member[], key: string): boolean {
  for (const member of members) {
    if (member.key === key) return true;
  }
  return false;
}
