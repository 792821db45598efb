/**
 * An object taken apart: its members as canonical texts, without the values of those that nobody needs. For an
 * envelope around a text that is read by itself.
 */

import { memberKey, memberText, walkMember } from "./fast-reader.ts";
import { type FastRead, newWalk, type Walk } from "./fast-walk.ts";
import type { CanonicalLimits } from "./limits.ts";
import { MemberRead } from "./member-read.ts";

/** Called as a function in loops: see docs/style.md, "Loops over texts". */
const { charCodeAt } = String.prototype;

/**
 * A member, with its canonical text. There is one object for all members, which holds until the next is read: a list of them
 * would be a tenth of what a call allocates.
 */
export type Member = {
  key: string;
  text: string;
  /** Of the member that it was asked of, where that is an object or an array. What other strings say was not looked at. */
  read: FastRead | undefined;
};

/** An envelope has few; more are left to the strict reader. */
const MEMBERS_MAX = 32;

const MEMBER: Member = { key: "", text: "", read: undefined };
/** Of the members so far. */
const KEYS: string[] = new Array<string>(MEMBERS_MAX).fill("");

const OPEN_OBJECT = 0x7b;
const OPEN_ARRAY = 0x5b;
const COMMA = 0x2c;
const CLOSE_OBJECT = 0x7d;

/**
 * Hands over the members of an object with nothing around it, in the order of the text, and what is read of the one called
 * `valued`. False where the strict reader has to look: then what was handed over counts for nothing. So it is where `take`
 * gives false or throws. The strings in the texts of the others are left to JSON.parse: without it nothing is known to be
 * JSON. Never throws.
 */
export function readMembers<Into>(
  text: string,
  limits: CanonicalLimits,
  valued: string,
  into: Into,
  take: (into: Into, member: Member) => boolean,
): boolean {
  const walk = newWalk(text, limits, 0);
  if (walk === undefined || charCodeAt.call(text, 0) !== OPEN_OBJECT) return false;
  try {
    let at = 1;
    for (let count = 0; count < MEMBERS_MAX; count += 1) {
      const keysBefore = walk.keyCount + 1;
      walk.depth = 1;
      at = walkMember(walk, at);
      if (at < 0) return false;
      walkedMember(walk, walk.keyCount - keysBefore, valued);
      if (isAmong(count, MEMBER.key)) return false;
      KEYS[count] = MEMBER.key;
      if (!isTaken(walk, into, take)) return false;
      const unit = charCodeAt.call(text, at);
      at += 1;
      if (unit !== COMMA) {
        const isWhole = unit === CLOSE_OBJECT && at === text.length;
        return isWhole && walk.keyCount <= limits.maxKeys;
      }
    }
    return false;
  } catch {
    return false;
  }
}

/** Not where another text was read meanwhile: there is one walk, and it is in that one then. */
function isTaken<Into>(
  walk: Walk,
  into: Into,
  take: (into: Into, member: Member) => boolean,
): boolean {
  const { stamp } = walk;
  return take(into, MEMBER) && walk.stamp === stamp;
}

function walkedMember(walk: Walk, keyCount: number, valued: string): void {
  MEMBER.key = memberKey(walk);
  MEMBER.text = memberText(walk);
  const isRead = MEMBER.key === valued && isContainer(MEMBER.text);
  MEMBER.read = isRead ? new MemberRead(walk, MEMBER.text, keyCount) : undefined;
}

function isContainer(form: string): boolean {
  const first = charCodeAt.call(form, 0);
  return first === OPEN_OBJECT || first === OPEN_ARRAY;
}

function isAmong(count: number, key: string): boolean {
  for (let at = 0; at < count; at += 1) {
    if (KEYS[at] === key) return true;
  }
  return false;
}
