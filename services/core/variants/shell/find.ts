/** `find` reads, unless an action of it runs or writes something. */
import type { Ran } from "./ran.ts";
import type { ShellWord } from "./shell-line.ts";

const WRITING = new Set(["-delete", "-fprint", "-fprint0", "-fprintf", "-fls"]);
const RUNNING = new Set(["-exec", "-execdir", "-ok", "-okdir"]);

const WRITES: Ran = { floor: "write", commands: [], lines: [], hidden: true };

/** The commands of `-exec` and the like, and what else it does. */
export function ranByFind(words: readonly ShellWord[]): Ran {
  const commands: (readonly ShellWord[])[] = [];
  let floor: Ran["floor"] = "read";
  for (let at = 1; at < words.length; at++) {
    const { text, startsOpen, splits } = words[at] as ShellWord;
    if (WRITING.has(text)) floor = "write";
    if (RUNNING.has(text)) {
      const end = endOfRun(words, at + 1);
      const inner = words.slice(at + 1, end).map(asFound);
      const splits = inner.some((word) => word.splits);
      if (end < 0 || splits || inner[0] === undefined || inner[0].open) return WRITES;
      commands.push(inner);
      at = end;
      // A starting point or a pattern may be a glob; what follows a test may not become an action.
    } else if (splits || (startsOpen && !isValue(words[at - 1]))) return WRITES;
  }
  return { floor, commands, lines: [], hidden: false };
}

/** A semicolon ends the command; a plus sign does after `{}` alone, and is a word elsewhere. */
function endOfRun(words: readonly ShellWord[], from: number): number {
  for (let at = from; at < words.length; at++) {
    const text = words[at]?.text;
    if (text === ";" || (text === "+" && words[at - 1]?.text === "{}")) return at;
  }
  return -1;
}

/** Names of found files stand in for `{}`: they begin with the starting point, so they are no options. */
function asFound(word: ShellWord): ShellWord {
  return word.text.includes("{}") ? { ...word, open: true, startsOpen: false } : word;
}

/** After a test such as `-name` comes its value, whatever it looks like. */
function isValue(before: ShellWord | undefined): boolean {
  return /^-(?:i?name|i?path|i?regex|newer|size|mtime|mmin|atime|ctime|type|user|group|perm|maxdepth|mindepth)$/.test(
    before?.text ?? "",
  );
}
