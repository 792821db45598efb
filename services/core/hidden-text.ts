/**
 * Texts of others as they may stand in what a model or a terminal is told. A character that nobody sees can move
 * the cursor, turn the order of letters round or hide an instruction, so that it is written out as JSON escapes it:
 * in a JSON text the escape means the same, elsewhere a reader sees that something was there.
 */

/** Controls, formats (bidi among them), line and paragraph separators, half pairs, and letters without a glyph. */
const HIDDEN_CLASS =
  "\\p{Cc}\\p{Cf}\\p{Cs}\\p{Zl}\\p{Zp}\\p{Default_Ignorable_Code_Point}\\u2800\\u{1d159}\\u{13441}\\u{13442}";

const HIDDEN = new RegExp(`[${HIDDEN_CLASS}]`, "u");
const ALL_HIDDEN = new RegExp(`[${HIDDEN_CLASS}]`, "gu");
const LINE_END_OR_HIDDEN = new RegExp(`\\r\\n|[${HIDDEN_CLASS}]`, "gu");
const STAYS_IN_LINES: readonly string[] = ["\n", "\r\n", "\t"];
/** A letter, digit, sign or mark of punctuation that is not hidden. */
const VISIBLE = new RegExp(`(?![${HIDDEN_CLASS}])[\\p{L}\\p{N}\\p{P}\\p{S}]`, "u");
/** Most texts: nothing in them needs an escape. */
const PLAIN = /^[ -~]*$/;

export function hasHidden(text: string): boolean {
  return !PLAIN.test(text) && HIDDEN.test(text);
}

/** A text of blanks, hidden characters and marks on nothing says nothing. */
export function hasVisible(text: string): boolean {
  return VISIBLE.test(text);
}

export function dropHidden(text: string): string {
  return PLAIN.test(text) ? text : text.replaceAll(ALL_HIDDEN, "");
}

/** The text with each hidden character as `\u202e`; two of them, as JSON writes it, above U+FFFF. */
export function escapeHidden(text: string): string {
  return PLAIN.test(text) ? text : text.replaceAll(ALL_HIDDEN, escaped);
}

/** The same for a text of several lines: tabs and ends of lines stay, as CSV ends them too. */
export function escapeHiddenInLines(text: string): string {
  if (PLAIN.test(text)) return text;
  return text.replaceAll(LINE_END_OR_HIDDEN, (one) =>
    STAYS_IN_LINES.includes(one) ? one : escaped(one),
  );
}

/** The text in quotes, as JSON. Backticks are escaped too: they would end a name that a sentence quotes by them. */
export function quoteText(text: string): string {
  return quoteTicks(escapeHidden(JSON.stringify(text)));
}

/** The text with its backticks as JSON may escape them. */
export function quoteTicks(text: string): string {
  return text.replaceAll("`", "\\u0060");
}

/** One text of sentences, for a model or a person. Nulls are left out, and nothing in it is hidden. */
export function joinSentences(sentences: readonly (string | null)[]): string {
  return escapeHidden(sentences.filter((sentence) => sentence !== null).join(" "));
}

/** An id in a sentence: as it is where it is one word, in quotes otherwise. */
export function quoteId(id: string): string {
  return /^[\w.:@/+-]*$/.test(id) ? id : quoteText(id);
}

function escaped(character: string): string {
  let text = "";
  for (let at = 0; at < character.length; at += 1) {
    text += `\\u${character.charCodeAt(at).toString(16).padStart(4, "0")}`;
  }
  return text;
}
