/**
 * Makes foreign text safe to show to a model or on a terminal. An invisible character can move the
 * cursor, reverse the order of letters or hide an instruction, so it is written as JSON escapes it:
 * in a JSON text the escape means the same, elsewhere a reader sees that something was there.
 */

/**
 * Controls, format characters (bidi among them), line and paragraph separators, half pairs, and
 * letters without a glyph.
 */
const HIDDEN_CLASS =
  "\\p{Cc}\\p{Cf}\\p{Cs}\\p{Zl}\\p{Zp}\\p{Default_Ignorable_Code_Point}\\u2800\\u{1d159}\\u{13441}\\u{13442}";

const HIDDEN = new RegExp(`[${HIDDEN_CLASS}]`, "u");
const ALL_HIDDEN = new RegExp(`[${HIDDEN_CLASS}]`, "gu");
const LINE_END_OR_HIDDEN = new RegExp(`\\r\\n|[${HIDDEN_CLASS}]`, "gu");
const STAYS_IN_LINES: readonly string[] = ["\n", "\r\n", "\t"];
/** A letter, digit, sign or mark of punctuation that is not hidden. */
const VISIBLE = new RegExp(`(?![${HIDDEN_CLASS}])[\\p{L}\\p{N}\\p{P}\\p{S}]`, "u");
/** Most texts match this: nothing in them needs an escape. */
const PLAIN = /^[ -~]*$/;

export function hasHidden(text: string): boolean {
  return !PLAIN.test(text) && HIDDEN.test(text);
}

/**
 * Whether a text has a visible character. White space, hidden characters and marks on nothing say
 * nothing.
 */
export function hasVisible(text: string): boolean {
  return VISIBLE.test(text);
}

export function dropHidden(text: string): string {
  return PLAIN.test(text) ? text : text.replaceAll(ALL_HIDDEN, "");
}

/**
 * The text with each hidden character written as `\u202e`, or as two escapes above U+FFFF, as JSON
 * does.
 */
export function escapeHidden(text: string): string {
  return PLAIN.test(text) ? text : text.replaceAll(ALL_HIDDEN, escaped);
}

/**
 * The same for a text of several lines: tabs and line ends stay, the line ends of CSV among them.
 */
export function escapeHiddenInLines(text: string): string {
  if (PLAIN.test(text)) return text;
  return text.replaceAll(LINE_END_OR_HIDDEN, (one) =>
    STAYS_IN_LINES.includes(one) ? one : escaped(one),
  );
}

/**
 * The text in quotes, as JSON. Backticks are escaped too: they would end a name that a sentence
 * quotes by them.
 */
export function quoteText(text: string): string {
  return quoteTicks(escapeHidden(JSON.stringify(text)));
}

/** The text with its backticks as JSON may escape them. */
export function quoteTicks(text: string): string {
  return text.replaceAll("`", "\\u0060");
}

/**
 * Joins sentences into one text for a model or a person. Nulls are left out, and hidden characters
 * are escaped.
 */
export function joinSentences(sentences: readonly (string | null)[]): string {
  return escapeHidden(sentences.filter((sentence) => sentence !== null).join(" "));
}

/** An id in a sentence: unquoted where it is one word, else in quotes. */
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
