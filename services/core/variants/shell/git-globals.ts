/** Options of git before the subcommand. */
import { mayBeMore, type ShellWord } from "./shell-line.ts";

/** Options before the subcommand that choose neither what a subcommand means nor which program it is. */
const FLAGS =
  /^(?:-[pP]|--(?:paginate|no-pager|bare|no-optional-locks|no-replace-objects|no-lazy-fetch|no-advice|(?:literal|glob|noglob|icase)-pathspecs|(?:git-dir|work-tree|namespace|attr-source|super-prefix)=.*))$/;
const VALUES = /^(?:-[Cc]|--(?:git-dir|work-tree|namespace|attr-source|super-prefix))$/;
/** The last ones print where git lies, and nothing else happens. */
const SUBCOMMAND = /^(?:[A-Za-z][\w-]*|-[hv]|--(?:help|version|(?:exec|html|man|info)-path))$/;

export interface GitPlace {
  /** Where the subcommand is, or the end. */
  readonly at: number;
  /** What stands before it may be more words, and the subcommand another. */
  readonly mayBeOther: boolean;
}

/** Null: an option is not known, or what comes is not seen. */
export function afterGitGlobals(words: readonly ShellWord[]): GitPlace | null {
  let at = 1;
  let mayBeOther = false;
  for (let word = words[at]; word !== undefined; word = words[at]) {
    const sight = sightOf(word, words[at + 1]);
    if (sight === "unseen") return null;
    if (sight === "subcommand") break;
    mayBeOther ||= sight.mayBeOther;
    at += sight.words;
  }
  return { at, mayBeOther };
}

/** What a word is: the subcommand, or an option of one word or two. */
type Sight = "subcommand" | "unseen" | { readonly words: 1 | 2; readonly mayBeOther: boolean };

function sightOf(word: ShellWord, value: ShellWord | undefined): Sight {
  const { text, open } = word;
  if (VALUES.test(text) && !open) return value === undefined ? "unseen" : sightOfValue(text, value);
  if (FLAGS.test(text) && (!open || text.includes("="))) {
    return { words: 1, mayBeOther: mayBeMore(word) };
  }
  return !open && SUBCOMMAND.test(text) ? "subcommand" : "unseen";
}

function sightOfValue(option: string, value: ShellWord): Sight {
  const sets = option === "-c" ? settingOf(value) : "harmless";
  return sets === "runs"
    ? "unseen"
    : { words: 2, mayBeOther: mayBeMore(value) || sets === "unseen" };
}

/** Settings that make other commands of subcommands, also those of files that they name. */
const RENAMES = /^(?:alias|include|includeif)\./i;

/** Settings that say which program is run for something, or where programs are looked for. */
const RUNS =
  /^(?:core\.(?:fsmonitor|sshcommand|editor|pager|hookspath|gitproxy|askpass|alternaterefscommand|attributesfile)|(?:filter|difftool|mergetool|guitool|browser|man|hook|pager|instaweb|sendemail|imap|tar|trailer|credential)\..*|gpg\.(?:.*\.)?(?:program|defaultkeycommand)|diff\.(?:external|.*\.(?:command|textconv))|merge\..*\.driver|interactive\.difffilter|sequence\.editor|web\.browser|uploadpack\.packobjectshook|remote\..*\.(?:uploadpack|receivepack|vcs)|submodule\..*\.update|protocol\.(?:(?!(?:file|https?|ssh|git)\.allow$).*\.)?allow|init\.templatedir)$/i;

/** Programs that only pass on what they get, words of a switch, and a directory that holds nothing. */
const HARMLESS =
  /^(?:|cat|less(?: -\w+)?|more|true|false|:|no|off|0|never|\/dev\/null|cache(?: --timeout=\d+)?|store)$/;

/** What a setting does whose name is not that of a person or of a connection, if its name is not seen. */
const SURELY_OTHER = /^[uh]/i;

/** `unseen`: it may be a setting that runs something, for all that its words show. */
function settingOf({ text, open, startsOpen }: ShellWord): "harmless" | "runs" | "unseen" {
  const [name = "", ...rest] = text.split("=");
  if (RENAMES.test(name)) return "runs";
  // Of a setting that is not seen, the first letter tells that its name is no alias.
  if (open && (startsOpen || /^[ai]/i.test(text))) return "runs";
  const runs = RUNS.test(name) && (open || !HARMLESS.test(rest.join("=")));
  if (runs) return "runs";
  return open && !SURELY_OTHER.test(text) ? "unseen" : "harmless";
}
