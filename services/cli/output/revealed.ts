/**
 * Text from outside that a person judges by. What nobody sees, or takes for an ordinary blank, is written out as
 * `\u{200b}`, each character by itself. No JSON text has this: a backslash of its own is always doubled there.
 */

const HIDDEN = /[\p{C}\p{Default_Ignorable_Code_Point}\u2800]|(?! )\p{Z}/u;
const NEEDS_QUOTES = /["\\]|^ | $|^$/;
/** What stays together where a text is cut: an escape of JSON, or a character. */
const UNIT = /\\u[0-9a-f]{4}|\\.|./gsu;

/** JSON text on one line, cut at a unit where it is longer; with quotes it reads as it was. */
export function revealedJson(json: string, charactersMax: number): string {
  const [line = "", ...more] = revealedLines(json, charactersMax - 1);
  const rest = more.join("");
  if (rest === "") return line;
  return line.length + rest.length <= charactersMax ? line + rest : `${line}…`;
}

/** All of a JSON text, in lines of at most so many characters; no escape is broken in two. */
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

/** A text that is no JSON: as it is, or as JSON in quotes where something of it would not be seen. */
export function revealed(text: string, charactersMax: number): string {
  const isPlain = !HIDDEN.test(text) && !NEEDS_QUOTES.test(text);
  return revealedJson(isPlain ? text : JSON.stringify(text), charactersMax);
}

function revealedCharacter(character: string): string {
  if (!HIDDEN.test(character)) return character;
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}
