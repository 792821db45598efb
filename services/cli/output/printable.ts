import { escapeHidden } from "../../core/hidden-text.ts";

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
