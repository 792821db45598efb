/** Options of git before the subcommand. */
import { mayBeMore, type ShellWord } from "./shell-line.ts";

/** Options before the subcommand that choose neither what a subcommand means nor which program it is. */
const FLAGS =
  /^(?:-[pP]|--(?:paginate|no-pager|bare|no-optional-locks|no-replace-objects|no-lazy-fetch|no-advice|(?:literal|glob|noglob|icase)-pathspecs|(?:git-dir|work-tree|namespace|attr-source|super-prefix)=.*))$/;
const VALUES = /^(?:-[Cc]|--(?:git-dir|work-tree|namespace|attr-source|super-prefix))$/;
/** Settings that make other commands of subcommands, also those of files that they name. */
const RENAMES = /^(?:alias|include|includeif)\./i;
const SUBCOMMAND = /^(?:[A-Za-z][\w-]*|-[hv]|--(?:help|version))$/;

/** Where the subcommand is, or the end; null: an option is not known, or what comes is not seen. */
export function afterGitGlobals(words: readonly ShellWord[]): number | null {
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

/** Of a setting whose value is not seen, the first letter tells that its name is another. */
function renames({ text, open, startsOpen }: ShellWord): boolean {
  return open ? startsOpen || /^[ai]/i.test(text) : RENAMES.test(text);
}
