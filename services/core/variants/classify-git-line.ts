import { classifyGit } from "./shell/git.ts";
import { parseShell } from "./shell/parse-shell.ts";
import type { ShellWord } from "./shell/shell-line.ts";
import type { VariantClass } from "./variant-class.ts";

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
  const { assignments, outputs, background } = command;
  if (outputs.length > 0 || assignments.length > 0 || background) return null;
  const [first] = command.words;
  const isNamed = first?.text === "git" && !first.open;
  const words = isNamed ? command.words : [GIT, ...command.words];
  const at = afterGlobals(words);
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

/** Options before the subcommand that choose neither what a subcommand means nor which program it is. */
const FLAGS =
  /^(?:-[pP]|--(?:paginate|no-pager|bare|no-optional-locks|no-replace-objects|no-lazy-fetch|no-advice|(?:literal|glob|noglob|icase)-pathspecs|(?:git-dir|work-tree|namespace|attr-source|super-prefix)=.*))$/;
const VALUES = /^(?:-[Cc]|--(?:git-dir|work-tree|namespace|attr-source|super-prefix))$/;
/** Settings that make other commands of subcommands, also those of files that they name. */
const RENAMES = /^(?:alias|include|includeif)\./i;
const SUBCOMMAND = /^(?:[A-Za-z][\w-]*|-[hv]|--(?:help|version))$/;

/** Where the subcommand is, or the end; null: an option is not known, or what comes is not seen. */
function afterGlobals(words: readonly ShellWord[]): number | null {
  for (let at = 1; at < words.length; at += 1) {
    const { text, open } = words[at] as ShellWord;
    const value = words[at + 1];
    if (VALUES.test(text) && !open) {
      if (value === undefined || mayBeMore(value) || (text === "-c" && renames(value))) return null;
      at += 1;
    } else if (!isFlag(words[at] as ShellWord)) return !open && SUBCOMMAND.test(text) ? at : null;
  }
  return words.length;
}

function isFlag(word: ShellWord): boolean {
  return FLAGS.test(word.text) && !mayBeMore(word) && (!word.open || word.text.includes("="));
}

/** Several words, of which one could be the subcommand. */
function mayBeMore({ text, open, splits }: ShellWord): boolean {
  return splits || (open && /[*?[{]/.test(text));
}

function renames({ text, open }: ShellWord): boolean {
  return open || RENAMES.test(text);
}

function textOf(words: readonly ShellWord[]): string {
  return words.map(({ text }) => text).join(" ");
}
