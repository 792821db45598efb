/** `find` reads, unless an action of it runs or writes something. */
import { asFound, mayBeStart, standsFor } from "./found.ts";
import type { Ran, Words } from "./ran.ts";
import type { ShellWord } from "./shell-line.ts";

const WRITING = new Set(["-delete", "-fprint", "-fprint0", "-fprintf", "-fls"]);
const RUNNING = new Set(["-exec", "-execdir", "-ok", "-okdir"]);

const WRITES: Ran = { floor: "write", commands: [], lines: [], hidden: true };

/** What all commands become with the files that `find` may find, in characters. */
const FOUND_MAX = 262_144;

/** More actions are not looked at: each has its own files. */
const ACTIONS_MAX = 64;

/** The commands of `-exec` and the like, and what else it does. */
export function ranByFind(words: readonly ShellWord[]): Ran {
  const commands: Words[] = [];
  const before: ShellWord[] = words.slice(0, 1);
  let left = FOUND_MAX;
  let actions = 0;
  let isWriting = false;
  for (let at = 1; at < words.length; at++) {
    const word = words[at] as ShellWord;
    if (RUNNING.has(word.text)) {
      const end = endOfRun(words, at + 1);
      const found = end < 0 ? null : withFound(words.slice(at + 1, end), before, left);
      actions += 1;
      if (found === null || actions > ACTIONS_MAX) return WRITES;
      commands.push(...found.commands);
      left = found.left;
      at = end;
    } else {
      const writes = writesBy(word, words[at - 1], before);
      if (writes === null) return WRITES;
      isWriting ||= writes;
      before.push(word);
    }
  }
  const floor = isWriting ? "write" : "read";
  return { floor, commands, lines: [], hidden: false };
}

/** A pattern may be a glob; what follows a test may not become an action: null. A starting point that is not seen counts as an option that writes. */
function writesBy(word: ShellWord, last: ShellWord | undefined, before: Words): boolean | null {
  const isOpen = word.splits || (word.startsOpen && !isValue(last));
  if (isOpen && (word.splits || !mayBeStart(before))) return null;
  return isOpen || WRITING.has(word.text);
}

/** A command as it is written, and with what is found. Null: it is not seen, or there is too much of it. */
function withFound(
  words: Words,
  before: Words,
  most: number,
): { commands: readonly Words[]; left: number } | null {
  if (!isCommand(words)) return null;
  const stands = words.some(takesFound) ? standsFor(before) : [];
  if (stands === null) return null;
  const left = stands.reduce((rest, stand) => rest - lengthWith(words, stand), most);
  if (left < 0) return null;
  const commands = ["{}", ...stands].map((stand) => words.map((word) => asFound(word, stand)));
  return { commands, left };
}

/** What is found is not what runs. */
function isCommand(words: Words): boolean {
  const [first] = words;
  const isSeen = first !== undefined && !first.open && !takesFound(first);
  return isSeen && !words.some(({ splits }) => splits);
}

function takesFound({ text }: ShellWord): boolean {
  return text.includes("{}");
}

function lengthWith(words: Words, stand: string): number {
  return words.reduce(
    (sum, { text }) => sum + text.length + (text.split("{}").length - 1) * stand.length,
    0,
  );
}

/** A semicolon ends the command; a plus sign does after `{}` alone, and is a word elsewhere. */
function endOfRun(words: readonly ShellWord[], from: number): number {
  for (let at = from; at < words.length; at++) {
    const text = words[at]?.text;
    if (text === ";" || (text === "+" && words[at - 1]?.text === "{}")) return at;
  }
  return -1;
}

/** After a test such as `-name` comes its value, whatever it looks like. */
function isValue(before: ShellWord | undefined): boolean {
  return VALUED.test(before?.text ?? "");
}

const VALUED =
  /^-(?:i?(?:l|whole)?name|i?path|i?regex|regextype|[ac]?newer|newer[aBcm][aBcmt]|samefile|size|[acm](?:time|min)|x?type|user|group|[ug]id|perm|m(?:ax|in)depth|fstype|inum|links|printf)$/;
