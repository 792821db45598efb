/** Commands that git runs: for each submodule, for each commit, in place of a program of its own. */
import { afterGitGlobals } from "./git-globals.ts";
import { type Ran, ranByText, UNSEEN, type Words } from "./ran.ts";

/** Null: it runs no other. */
export function ranByGit(words: Words): Ran | null {
  const place = afterGitGlobals(words);
  if (place === null) return null;
  const [subcommand, ...rest] = words.slice(place.at);
  const name = subcommand?.text ?? "";
  switch (name) {
    case "submodule":
      return ranByForeach(rest);
    case "bisect":
      return rest[0]?.text === "run" ? ranByWords(rest.slice(1)) : null;
    case "config":
      return ranByAlias(rest);
    case "rebase":
      return ranByRebase(rest);
    default:
      return runsByOption(name, rest) ? UNSEEN : null;
  }
}

function ranByForeach(words: Words): Ran | null {
  const at = words.findIndex(({ text }) => text === "foreach");
  if (at < 0) return null;
  const end = words.findIndex(({ text }, index) => index > at && !FOREACH_FLAG.test(text));
  return end < 0 ? null : ranByWords(words.slice(end));
}

const FOREACH_FLAG = /^(?:-q|--(?:quiet|recursive)?)$/;

/** One word is a text for a shell, several are a command; the command itself may be such a text, too. */
function ranByWords(words: Words): Ran | null {
  const [command] = words;
  if (command === undefined) return null;
  if (command.text.startsWith("-") || command.splits) return UNSEEN;
  if (words.length === 1 || /[^\w./@%+-]/.test(command.text)) return withFloor(ranByText(words));
  if (command.open) return UNSEEN;
  return { floor: "write", commands: [words], lines: [], hidden: false };
}

const ALIAS = /^alias\../i;

/** `git config alias.name text`: git runs it later, with words behind it that nobody sees now. */
function ranByAlias(words: Words): Ran | null {
  const at = words.findIndex(({ text }) => ALIAS.test(text));
  const text = at < 0 ? undefined : words[at + 1];
  if (text === undefined) return null;
  if (text.splits) return UNSEEN;
  const line = text.text.startsWith("!") ? text.text.slice(1) : `git ${text.text}`;
  return { floor: "write", commands: [], lines: [line], hidden: text.open };
}

const EXEC = /^(?:-[a-zA-Z]*x|--exe?c?)$/;
const EXEC_JOINED = /^(?:-[a-zA-Z]*?x|--exe?c?=)(.+)$/s;

/** `-x text`, as often as it stands there; its beginnings are taken for the long option. */
function ranByRebase(words: Words): Ran | null {
  const texts = words.flatMap((word, at) => {
    const joined = EXEC_JOINED.exec(word.text)?.[1];
    if (joined !== undefined) return [{ ...word, text: joined }];
    return EXEC.test(word.text) ? words.slice(at + 1, at + 2) : [];
  });
  if (texts.length === 0) return null;
  const lines = texts.map(({ text }) => text);
  return { floor: "write", commands: [], lines, hidden: texts.some(({ open }) => open) };
}

function withFloor(ran: Ran): Ran {
  return { ...ran, floor: "write" };
}

/** Options with a program, or with a text for a shell; git takes their beginnings. */
const RUNNING: Readonly<Record<string, RegExp>> = {
  archive: /^--exec/,
  clone: /^-u|^--up/,
  difftool: /^-[a-zA-Z]*x|^--ex/,
  fetch: /^--uploa/,
  "filter-branch": /^--[a-z]+-filter/,
  "for-each-repo": /^/,
  grep: /^-[a-zA-Z0-9]*O|^--op/,
  "ls-remote": /^--(?:u|exe)/,
  pull: /^--uploa/,
  push: /^--(?:rece|exe)/,
};

function runsByOption(name: string, words: Words): boolean {
  const running = Object.hasOwn(RUNNING, name) ? RUNNING[name] : undefined;
  return running !== undefined && words.some(({ text }) => running.test(text));
}
