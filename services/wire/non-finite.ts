/** Numbers that some languages print into JSON although JSON has none of them: NaN and infinities. */

/** Called as functions in loops: see docs/style.md, "Loops over texts". */
const { charCodeAt, startsWith } = String.prototype;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const MINUS = 0x2d;
const CAPITAL_N = 0x4e;
const CAPITAL_I = 0x49;

/** The same text with null in place of each such number, and the first of them; null: there is none. */
export function withoutNonFinite(json: string): { text: string; first: string | null } {
  const pieces: string[] = [];
  let first: string | null = null;
  let copiedTo = 0;
  // A loop, because a pattern takes the square of its length for a text of many open quotes.
  for (let at = 0; at < json.length; at += 1) {
    const unit = charCodeAt.call(json, at);
    if (unit === QUOTE) at = endOfString(json, at);
    else if (unit === CAPITAL_N || unit === CAPITAL_I || unit === MINUS) {
      const word = wordAt(json, at);
      if (word === undefined) continue;
      first ??= word;
      pieces.push(json.slice(copiedTo, at), "null");
      copiedTo = at + word.length;
      at = copiedTo - 1;
    }
  }
  return { text: first === null ? json : `${pieces.join("")}${json.slice(copiedTo)}`, first };
}

function wordAt(json: string, at: number): string | undefined {
  return ["NaN", "Infinity", "-Infinity"].find((word) => startsWith.call(json, word, at));
}

/** Offset of the quote that ends the string that begins here, or of the end of the text. */
function endOfString(json: string, from: number): number {
  let at = from + 1;
  while (at < json.length) {
    const unit = charCodeAt.call(json, at);
    if (unit === QUOTE) return at;
    at += unit === BACKSLASH ? 2 : 1;
  }
  return at;
}
