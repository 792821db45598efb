/**
 * Handles half surrogate pairs before anything is written. They have no UTF-8: an encoder replaces
 * each by the same character, so that two texts would become one.
 */

/** With the `u` flag a pair is one character, so this matches halves only. */
const HALF = /\p{Surrogate}/u;
const HALVES = /\p{Surrogate}/gu;

/** Text for people: a half pair becomes the replacement character. */
export function wellFormed(text: string): string {
  return HALF.test(text) ? text.replaceAll(HALVES, "\ufffd") : text;
}

/** JSON text: a half pair becomes its escape, which the strict parser refuses by name. */
export function escapedHalves(json: string): string {
  if (!HALF.test(json)) return json;
  return json.replaceAll(HALVES, (half) => `\\u${half.charCodeAt(0).toString(16)}`);
}

/** Like `wellFormed`, for text that may be absent. */
export function wellFormedOrNull(text: string | null): string | null {
  return text === null ? null : wellFormed(text);
}
