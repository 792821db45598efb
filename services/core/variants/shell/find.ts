/** `find` reads, unless an action of it runs or writes something. */
import { strictest, type VariantClass } from "../variant-class.ts";
import type { ShellWord } from "./shell-line.ts";

const WRITING = new Set(["-delete", "-fprint", "-fprint0", "-fprintf", "-fls"]);
const RUNNING = new Set(["-exec", "-execdir", "-ok", "-okdir"]);

type Classify = (words: readonly ShellWord[]) => VariantClass;

/** `classify`: what the commands that it runs are. */
export function classifyFind(words: readonly ShellWord[], classify: Classify): VariantClass {
  let found: VariantClass = "read";
  for (let at = 1; at < words.length; at++) {
    const { text, startsOpen } = words[at] as ShellWord;
    if (WRITING.has(text)) return "write";
    if (RUNNING.has(text)) {
      const end = words.findIndex((word, index) => index > at && /^[;+]$/.test(word.text));
      if (end < 0) return "write";
      found = strictest(found, classOfRun(words.slice(at + 1, end), classify));
      at = end;
      // A starting point or a pattern may be a glob; what follows a test may not become an action.
    } else if (startsOpen && !isValue(words[at - 1])) return "write";
  }
  return found;
}

/** Names of found files stand in for `{}`: they begin with the starting point, so they are no options. */
function classOfRun(words: readonly ShellWord[], classify: Classify): VariantClass {
  const inner = words.map((word) =>
    word.text.includes("{}") ? { ...word, open: true, startsOpen: false } : word,
  );
  const [command] = inner;
  return command === undefined || command.open ? "write" : classify(inner);
}

/** After a test such as `-name` comes its value, whatever it looks like. */
function isValue(before: ShellWord | undefined): boolean {
  return /^-(?:i?name|i?path|i?regex|newer|size|mtime|mmin|atime|ctime|type|user|group|perm|maxdepth|mindepth)$/.test(
    before?.text ?? "",
  );
}
