/** Decides when two lines are the same call. */
import type { ParsedLine } from "./plain-command.ts";

/**
 * A text that two lines share when their commands are equal word by word, in whatever quotes and
 * blanks they are written. An unclear line is the same as its own text.
 *
 * @param text the line
 * @param line what `parseLine` gave for it
 * @param canonicalWords of each command one spelling for all that its program reads alike; null: the words as
 *   they are
 */
export function identifyLine(
  text: string,
  line: ParsedLine,
  canonicalWords: readonly (readonly string[] | null)[],
): string {
  if (line.kind === "unclear") return `unclear ${trimBlanks(text)}`;
  const commands = line.commands.map((command, at) => [
    canonicalWords[at] ?? command.words,
    command.expansions,
    command.assignments.map(({ name, value }) => [name, value]),
    command.redirections.map((one) => one.text),
    command.directory,
  ]);
  return JSON.stringify([commands, line.joints]);
}

/** An escaped space at the end is no outer white space. */
function trimBlanks(text: string): string {
  const trimmed = text.trim();
  return trimmed.endsWith("\\") ? text : trimmed;
}
