import { Effort } from "./shell/effort.ts";
import { classifyGit } from "./shell/git.ts";
import { afterGitGlobals } from "./shell/git-globals.ts";
import { plainWord } from "./shell/names.ts";
import { parseShell } from "./shell/parse-shell.ts";
import { ranByGit } from "./shell/ran-by-git.ts";
import { readCommands } from "./shell/shell-class.ts";
import { inEachShell, type ShellCommand, textOf } from "./shell/shell-line.ts";
import { strictestOf, type VariantClass } from "./variant-class.ts";

/** The arguments of one git command, with or without the word `git` before them. */
export function classifyGitLine(line: string): VariantClass {
  return readGitLine(line)?.class ?? "write";
}

export interface GitReading {
  readonly class: VariantClass;
  /** Its words without quotes, joined by single spaces: with and without `git` and the options before the subcommand; those of commands that it runs. */
  readonly texts: readonly string[];
}

/** Null: it is no single git command, or one whose subcommand is not seen. */
export function readGitLine(line: string): GitReading | null {
  const read = parseShell(line);
  const [command] = read?.commands ?? [];
  if (read === null || command === undefined || read.commands.length > 1) return null;
  const { assignments, outputs, background } = command;
  if (outputs.length > 0 || assignments.length > 0 || background) return null;
  const all = inEachShell([command]).map(readGitCommand);
  const found = all.filter((one) => one !== null);
  if (found.length < all.length) return null;
  const texts = new Set(found.flatMap((one) => one.texts));
  return { class: strictestOf(found.map((one) => one.class)), texts: [...texts] };
}

function readGitCommand(command: ShellCommand): GitReading | null {
  const [first] = command.words;
  const isNamed = first?.text === "git" && !first.open;
  const words = isNamed ? command.words : [GIT, ...command.words];
  const place = afterGitGlobals(words);
  if (place === null || place.mayBeOther) return null;
  const plain = [GIT, ...words.slice(place.at)];
  const texts = [plain.slice(1), plain, words.slice(1), words].map(textOf);
  const own = { class: classifyGit(words), texts: [...new Set(texts)] };
  return ranByGit(words) === null ? own : withRan(own, { ...command, words });
}

/** With the commands that it runs, those of git with and without `git`, too. */
function withRan(own: GitReading, command: ShellCommand): GitReading | null {
  const effort = new Effort();
  const read = readCommands([command], effort);
  if (effort.isSpent || read.some((one) => one.hidden || one.unseenOf.length > 0)) return null;
  const texts = read.flatMap((one) => one.texts);
  const plain = texts.flatMap((text) => (text.startsWith("git ") ? [text.slice(4)] : []));
  return {
    class: strictestOf([own.class, ...read.map((one) => one.class)]),
    texts: [...new Set([...own.texts, ...texts, ...plain])],
  };
}

const GIT = plainWord("git");
