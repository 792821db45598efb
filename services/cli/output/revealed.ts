/**
 * Text from outside that a person must judge. Invisible characters, and blanks that look like a
 * space, are written as `\u{200b}`, one by one. JSON text cannot contain this form itself, because
 * JSON doubles a backslash.
 */

const HIDDEN = /[\p{C}\p{Default_Ignorable_Code_Point}\u2800]|(?! )\p{Z}/u;
const NEEDS_QUOTES = /["\\]|^ | $|^$/;
/** Never cut in two: an escape of JSON, or a character. */
const UNIT = /\\u[0-9a-f]{4}|\\.|./gsu;

/** JSON text on one line, cut at a unit if it is too long; a quoted text stays readable JSON. */
export function revealedJson(json: string, charactersMax: number): string {
  const [line = "", ...more] = revealedLines(json, charactersMax - 1);
  const rest = more.join("");
  if (rest === "") return line;
  return line.length + rest.length <= charactersMax ? line + rest : `${line}…`;
}

/** The whole JSON text, in lines of at most `charactersMax`; no escape is broken in two. */
export function revealedLines(json: string, charactersMax: number): readonly string[] {
  const lines: string[] = [];
  let line = "";
  for (const [unit] of json.matchAll(UNIT)) {
    const shown = HIDDEN.test(unit) ? [...unit].map(revealedCharacter).join("") : unit;
    if (line !== "" && line.length + shown.length > charactersMax) {
      lines.push(line);
      line = "";
    }
    line += shown;
  }
  return [...lines, line];
}

/** Text that is no JSON: as it is, or as a JSON string if a part of it would be invisible. */
export function revealed(text: string, charactersMax: number): string {
  const isPlain = !HIDDEN.test(text) && !NEEDS_QUOTES.test(text);
  return revealedJson(isPlain ? text : JSON.stringify(text), charactersMax);
}

function revealedCharacter(character: string): string {
  if (!HIDDEN.test(character)) return character;
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}
