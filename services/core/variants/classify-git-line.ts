import { classifyGit } from "./shell/git.ts";
import { afterGitGlobals } from "./shell/git-globals.ts";
import { parseShell } from "./shell/parse-shell.ts";
import { type ShellWord, textOf } from "./shell/shell-line.ts";
import { strictest, type VariantClass } from "./variant-class.ts";

/** The arguments of one git command, with or without the word `git` before them. */
export function classifyGitLine(line: string): VariantClass {
  return readGitLine(line)?.class ?? "write";
}

export interface GitReading {
  readonly class: VariantClass;
  /** Its words without quotes, joined by single spaces: with and without `git` and the options before the subcommand. */
  readonly texts: readonly string[];
}

/** Null: it is no single git command, or one whose subcommand is not seen. */
export function readGitLine(line: string): GitReading | null {
  const read = parseShell(line);
  const [command] = read?.commands ?? [];
  if (read === null || command === undefined || read.commands.length > 1) return null;
  const { assignments, outputs, background, expanded } = command;
  if (outputs.length > 0 || assignments.length > 0 || background) return null;
  const written = readGitWords(command.words);
  const made = expanded === undefined ? written : readGitWords(expanded);
  if (written === null || made === null) return null;
  const texts = new Set([...written.texts, ...made.texts]);
  return { class: strictest(written.class, made.class), texts: [...texts] };
}

function readGitWords(given: readonly ShellWord[]): GitReading | null {
  const [first] = given;
  const isNamed = first?.text === "git" && !first.open;
  const words = isNamed ? given : [GIT, ...given];
  const at = afterGitGlobals(words);
  if (at === null) return null;
  const plain = [GIT, ...words.slice(at)];
  const texts = [plain.slice(1), plain, words.slice(1), words].map(textOf);
  return { class: classifyGit(words), texts: [...new Set(texts)] };
}

const GIT: ShellWord = {
  text: "git",
  open: false,
  startsOpen: false,
  splits: false,
  streams: false,
};
