/** Subcommands of git: those that only show, with the options that make them do more. */
import { strictest, type VariantClass } from "../variant-class.ts";
import { afterGitGlobals } from "./git-globals.ts";
import { endOfOptions, type ShellWord } from "./shell-line.ts";

/** They show, whatever their options are (`--output` and the like aside). */
const SHOWS = new Set(
  (
    "log show diff status blame annotate grep ls-files ls-tree cat-file rev-parse rev-list describe shortlog name-rev " +
    "merge-base show-ref for-each-ref whatchanged cherry count-objects diff-tree diff-index diff-files range-diff " +
    "check-ignore check-attr check-ref-format var version help verify-commit verify-tag show-branch get-tar-commit-id"
  ).split(" "),
);

/** They show in these forms alone; each form is the words after the subcommand. */
const SHOWS_AS: Readonly<Record<string, RegExp>> = {
  branch:
    /^(?:(?:-a|-r|-v|-vv|-av|-rv|--all|--remotes|--verbose|--show-current|--no-color) ?)*$|^(?:-l|--list|--contains|--merged|--no-merged)(?: \S+)*$/,
  tag: /^$|^(?:-l|--list|-n\d*|--contains|--points-at|--merged)(?: \S+)*$/,
  remote: /^(?:-v|--verbose)?$|^get-url \S+$/,
  stash: /^list(?: \S+)*$|^show(?: \S+)*$/,
  config:
    /^(?:(?:--global|--local|--system) )?(?:--get|--get-all|--get-regexp|--list|-l)(?: \S+)*$/,
  reflog: /^(?:show(?: \S+)*|-\S+)?$/,
  worktree: /^list(?: --porcelain)?$/,
  submodule: /^(?:status(?: \S+)*)?$/,
  bisect: /^log$/,
  notes: /^(?:list|show)(?: \S+)*$/,
  "symbolic-ref": /^(?:(?:-q|--short) )*\S+$/,
};

/** Asks another machine, which may answer differently each time. */
const ASKS = new Set(["ls-remote"]);

/** Options that write a file or run a program, whatever the subcommand is; git takes their beginnings. */
const ACTING = /^(?:--output(?:=.*)?|--ext-.*|--textc.*|-O.*|--open.*|--exec?(?:=.*)?|--up.*)$/;

/** `git grep` takes several letters in one word; this one runs a pager. */
const GREP_ACTING = /^-[A-Za-z0-9]*O|^--op/;

/** What to run on the other machine. */
const ASK_ACTING = /^--(?:u|exe)/;

export function classifyGit(words: readonly ShellWord[]): VariantClass {
  const place = afterGitGlobals(words);
  if (place === null) return "write";
  const found = classifySubcommand(words.slice(place.at));
  return place.mayBeOther ? strictest("run", found) : found;
}

function classifySubcommand([subcommand, ...rest]: readonly ShellWord[]): VariantClass {
  if (subcommand === undefined) return "read";
  if (mayAct(subcommand.text, rest)) return "write";
  if (SHOWS.has(subcommand.text)) return "read";
  if (ASKS.has(subcommand.text)) return "watch";
  const form = Object.hasOwn(SHOWS_AS, subcommand.text) ? SHOWS_AS[subcommand.text] : undefined;
  if (/^--(?:version|help|[a-z]+-path)$/.test(subcommand.text)) return "read";
  const shown = rest.map(({ text }) => (/\s/.test(text) ? "x" : text)).join(" ");
  return form?.test(shown) === true ? "read" : "write";
}

/** Whether one of the words may be an option that does more than show. */
function mayAct(subcommand: string, words: readonly ShellWord[]): boolean {
  const acts = ({ text }: ShellWord): boolean =>
    ACTING.test(text) ||
    (subcommand === "grep" && GREP_ACTING.test(text)) ||
    (ASKS.has(subcommand) && ASK_ACTING.test(text));
  const end = endOfOptions(words);
  // After an option the hyphens may be its value, and options may follow.
  const valued = words[end - 1]?.text.startsWith("-") ? words.slice(end + 1) : [];
  const options = words.slice(0, end);
  return valued.some(acts) || options.some((word) => word.startsOpen || acts(word));
}
