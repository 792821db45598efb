/**
 * Half surrogate pairs have no UTF-8: an encoder makes all of them one character, so two texts would
 * become one. They are dealt with before anything is written.
 */

/** With the `u` flag a pair is one character, so this finds halves alone. */
const HALF = /\p{Surrogate}/u;
const HALVES = /\p{Surrogate}/gu;

/** Text for people: a half pair shows as the replacement character. */
export function wellFormed(text: string): string {
  return HALF.test(text) ? text.replaceAll(HALVES, "\ufffd") : text;
}

/** JSON text: a half pair is written as its escape, which the strict parser refuses by name. */
export function escapedHalves(json: string): string {
  if (!HALF.test(json)) return json;
  return json.replaceAll(HALVES, (half) => `\\u${half.charCodeAt(0).toString(16)}`);
}

/** The same for text that may be absent. */
export function wellFormedOrNull(text: string | null): string | null {
  return text === null ? null : wellFormed(text);
}
