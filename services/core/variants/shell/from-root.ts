/** Lines that go to the root or home directory: what commands name behind that lies there. */
import { plainWord } from "./names.ts";
import { endOfOptions, type ShellCommand, type ShellWord } from "./shell-line.ts";

/** What stands before a name that is looked for there; empty: where that is nobody says. */
export type Root = "" | "/" | "~/";

/** Commands whose words are files. */
const NAMES_FILES = new Set(
  (
    "rm rmdir unlink shred truncate mv cp ln install cat tac head tail less more nl od xxd strings base64 grep egrep fgrep sed tee " +
    "touch mkdir chmod chown chgrp tar zip source . sh bash scp rsync find ls"
  ).split(" "),
);

/** The commands with where each of them may stand: after `cd /` that, whatever comes of later moves, to the end of the subshell. */
export function withRoots(
  commands: readonly ShellCommand[],
  outer: Root = "",
): readonly (readonly [ShellCommand, Root])[] {
  let now = outer;
  let level = 1;
  return commands.map((command) => {
    if (command.level < level) now = outer;
    level = Math.min(level, command.level);
    const before = now;
    const next = rootOf(command.words);
    if (next !== null) [now, level] = [next, command.level];
    return [command, before] as const;
  });
}

function rootOf([name, ...words]: readonly ShellWord[]): Root | null {
  if (name?.text !== "cd" && name?.text !== "pushd") return null;
  const isOption = ({ text }: ShellWord, at: number): boolean =>
    /^-[LPe@]+$|^--$/.test(text) && at <= endOfOptions(words);
  const [target, ...more] = words.filter((word, at) => !isOption(word, at));
  if (more.length > 0 || target?.open === true) return null;
  if (target === undefined) return name.text === "cd" ? "~/" : null;
  if (/^\/[./]*$/.test(target.text)) return "/";
  return /^~[./]*$/.test(target.text) ? "~/" : null;
}

/** The words as they are from elsewhere; the same ones where nothing is to be said. */
export function fromRoot(words: readonly ShellWord[], root: Root): readonly ShellWord[] {
  const [name, ...rest] = words;
  if (root === "" || name === undefined || !NAMES_FILES.has(name.text)) return words;
  const files = name.text === "find" ? withPlace(rest, root) : rest;
  return [name, ...files.map((word) => below(word, root))];
}

/** Where no place is named, `find` looks where it stands. */
function withPlace(words: readonly ShellWord[], root: Root): readonly ShellWord[] {
  const at = words.findIndex(({ text }) => !/^-[HLP]$/.test(text));
  const [first] = at < 0 ? [] : words.slice(at);
  if (first !== undefined && !/^[-(!]/.test(first.text)) return words;
  const before = at < 0 ? words : words.slice(0, at);
  return [...before, plainWord(root), ...words.slice(before.length)];
}

/** Files as they are written, and as they are from elsewhere. */
export function alsoFromRoot(files: readonly ShellWord[], root: Root): readonly ShellWord[] {
  if (root === "") return files;
  return [
    ...files,
    ...files.map((file) => below(file, root)).filter((one) => !files.includes(one)),
  ];
}

function below(word: ShellWord, root: Root): ShellWord {
  const { text } = word;
  if (text === "" || /^[-~/]|^[!()]$/.test(text)) return word;
  return { ...word, text: root + text.replace(/^(?:\.\/+)+|^\.$/, "") };
}
