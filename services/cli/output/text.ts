import { escapeHidden } from "../../core/hidden-text.ts";

/** `1 call`, `2 calls`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** Text in lines of at most `columns` characters, broken at spaces. */
export function wrapped(text: string, columns: number): string {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && line.length + 1 + word.length > columns) {
      lines.push(line);
      line = word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  return [...lines, line].join("\n");
}

/** Line breaks become spaces. */
const LINE_BREAKS = /[\t\n\v\f\r\u0085\u2028\u2029]+/g;

/**
 * Text from outside for the terminal: on one line, with invisible characters escaped. No escape is
 * cut in two. For text that a person must judge, use `revealed`.
 */
export function printable(text: string, charactersMax: number): string {
  const line = text.replaceAll(LINE_BREAKS, " ");
  const plain = escapeHidden(line);
  if (plain.length <= charactersMax) return plain;
  let shown = "";
  let characters = 0;
  let cutLength = 0;
  for (const character of line) {
    const unit = escapeHidden(character);
    characters += unit === character ? 1 : unit.length;
    if (characters > charactersMax) return `${shown.slice(0, cutLength)}…`;
    shown += unit;
    if (characters < charactersMax) cutLength = shown.length;
  }
  return plain;
}

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
