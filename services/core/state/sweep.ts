/**
 * A sweep: calls of one read that differ only in dates and ids, such as one look for each day or each customer.
 * Each asks a question of its own, so that it is not refused for an answer that was seen before.
 */
import type { RecentCall } from "./state.ts";

/**
 * A text value without blanks that has a digit and a letter, a hyphen or four digits: a date, a time, an id; and a
 * number that is named as an id.
 */
const DATE_OR_ID =
  /: ?"(?=[^"\s]*\d)(?=[^"\s]*(?:[\p{L}-]|\d{4}))[^"\\\s]{1,80}"|(?<=id": ?)\d+/giu;

/** A text of two words and more as people write them: no code, path or address. */
const SENTENCE = /"\p{L}[\p{L}\p{N}'’,.:;?!%&€$#-]*(?: [\p{L}\p{N}'’,.:;?!%&€$#-]+){1,200}"/u;

/** Neither dates and ids nor sentences. */
export const NO_FORM = 0;

/** Sentences, and no dates and ids. */
export const SENTENCES = -1;

/**
 * What the arguments are made of. With dates and ids: the form of the others, 32 bits from 1 on, so that two calls
 * of equal form are most likely of one sweep. `text`: the arguments as canonical JSON.
 */
export function formOf(text: string): number {
  const form = text.replace(DATE_OR_ID, ":");
  if (form !== text) return hashOf(form) || 1;
  return SENTENCE.test(text) ? SENTENCES : NO_FORM;
}

/** FNV-1a over UTF-16 code units. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  }
  return hash >>> 0;
}

/** Whether the call before it of the same tool and agent differs from it only in dates and ids. */
export function goesOnSweep(recentCalls: readonly RecentCall[], entry: RecentCall): boolean {
  if (!entry.isRead || entry.form <= NO_FORM) return false;
  for (let at = recentCalls.lastIndexOf(entry) - 1; at >= 0; at--) {
    const before = recentCalls[at] as RecentCall;
    if (before.tool !== entry.tool || before.agentId !== entry.agentId) continue;
    return before.form === entry.form && before.loopKey !== entry.loopKey;
  }
  return false;
}
