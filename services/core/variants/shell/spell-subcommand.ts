/**
 * Commands without the options before their subcommand, so that rules know `git -C a push` and `npm -w a publish` as
 * `git push` and `npm publish`; and by the names that subcommands have besides.
 */
import { afterGitGlobals } from "./git-globals.ts";
import { formsOf } from "./option-forms.ts";
import { type Places, placesOf } from "./places.ts";
import type { Words } from "./ran.ts";
import { textOf } from "./shell-line.ts";
import { addGroups, type Spelled, textDraft } from "./subcommand-groups.ts";
import { hasSubcommands } from "./subcommands.ts";

export interface Spellings {
  readonly texts: readonly string[];
  /** Those of the texts, and the command itself where nothing stands before its subcommand. */
  readonly commands: readonly Spelled[];
  /** The command without the options before its subcommand; null: where that is, is not certain. */
  readonly plain: Words | null;
  /** Nobody sees which subcommand it is, and it may be one that runs other commands. */
  readonly hidden: boolean;
  /** It may be another subcommand of the same program. */
  readonly mayBeOther: boolean;
  /** The same of groups of its subcommands, `docker compose`. */
  readonly openGroups: readonly string[];
}

const NONE: Spellings = {
  texts: [],
  commands: [],
  plain: null,
  hidden: false,
  mayBeOther: false,
  openGroups: [],
};

/** Of a command by its name. */
export function spellSubcommand(words: Words): Spellings {
  const name = words[0]?.text ?? "";
  if (name === "git") return spellGit(words);
  if (OPTION_FIRST.has(name)) return { ...NONE, mayBeOther: words[1]?.open === true };
  return formsOf(name) !== null || hasSubcommands(name) ? spellTool(name, words) : NONE;
}

/** Their first option is what others call a subcommand. */
const OPTION_FIRST = new Set(["dpkg", "rpm"]);

/** Their subcommands run programs of the machine: which, is not in the name of the program. */
const RUNS_OTHERS = new Set("git npm pnpm yarn bun poetry uv conda bundle".split(" "));

function spellGit(words: Words): Spellings {
  const place = afterGitGlobals(words);
  return place === null
    ? { ...NONE, hidden: true }
    : spellAt(words, { found: [place.at], mayBeOther: place.mayBeOther, unseen: false });
}

function spellTool(name: string, words: Words): Spellings {
  return spellAt(words, placesOf(words, formsOf(name) ?? {}));
}

function spellAt(words: Words, { found, mayBeOther, unseen }: Places): Spellings {
  const draft = textDraft();
  const head = words.slice(0, 1);
  for (const at of found) {
    draft.add(head, words.slice(at));
    addGroups(head, words.slice(at), draft);
  }
  const own = textOf(words);
  const [at] = found;
  const isUnseen = unseen || draft.isFull;
  const hidden = draft.isHidden || (isUnseen && RUNS_OTHERS.has(words[0]?.text ?? ""));
  return {
    texts: [...draft.commands.keys()].filter((text) => text !== own),
    commands: [...draft.commands.values()],
    plain: found.length === 1 && !unseen ? [...head, ...words.slice(at)] : null,
    hidden,
    mayBeOther: mayBeOther || (isUnseen && !hidden),
    openGroups: [...draft.openGroups],
  };
}
