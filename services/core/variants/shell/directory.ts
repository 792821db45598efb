/** Whether a reading command shows something of the directory that the session is in. */
import type { ShellCommand, ShellWord } from "./shell-line.ts";

/** They look at the directory of the session where no path is given. */
const LOOKS_AROUND = new Set(["ls", "dir", "vdir", "find", "tree", "du", "rg", "ag"]);

/** Their first word is a pattern or a program, not a path. */
const PATTERN_FIRST = new Set([
  "grep",
  "egrep",
  "fgrep",
  "zgrep",
  "rg",
  "ag",
  "sed",
  "awk",
  "gawk",
  "mawk",
  "jq",
  "yq",
]);

/** They look at nothing but their words and their input. */
const TALKS = new Set([
  "echo",
  "printf",
  "true",
  "false",
  ":",
  "seq",
  "expr",
  "tr",
  "id",
  "whoami",
  "groups",
  "uname",
  "arch",
  "nproc",
  "getconf",
  "locale",
  "lscpu",
  "lsb_release",
  "getent",
  "basename",
  "dirname",
  "cal",
  "factor",
]);

/** Options whose value is the next word and no path, by command. */
const VALUES: Readonly<Record<string, RegExp>> = {
  sed: /^-\w*e$/,
  awk: /^-[vF]$/,
  gawk: /^-[vF]$/,
  mawk: /^-[vF]$/,
  grep: /^-[eABCm]$/,
  egrep: /^-[eABCm]$/,
  fgrep: /^-[eABCm]$/,
};

/** True also where it cannot be told. */
export function dependsOnDirectory({ words, inputs }: ShellCommand): boolean {
  if (!inputs.every(isAbsolute)) return true;
  const given = words[0]?.text === "sudo" ? words.slice(1) : words;
  const command = given[0]?.text ?? "";
  if (TALKS.has(command) || given.length === 0) return false;
  if (command === "find") return !isAbsolute(given[1]);
  if (command === "git") return given[1]?.text !== "-C" || !isAbsolute(given[2]);
  const names = namesIn(command, given);
  if (names.length > 0) return !names.every(isAbsolute);
  if (LOOKS_AROUND.has(command) || !READS_INPUT.has(command)) return true;
  // Without a path these read their input; `grep -r` looks around.
  return GREPS.has(command) && given.some(({ text }) => /^-\w*[rR]/.test(text));
}

const GREPS = new Set(["grep", "egrep", "fgrep"]);

/** The words that may be paths: no options, no numbers, no pattern or program. */
function namesIn(command: string, words: readonly ShellWord[]): readonly ShellWord[] {
  const takesValue = VALUES[command];
  let hasScript = false;
  const names: ShellWord[] = [];
  for (let at = 1; at < words.length; at++) {
    const word = words[at] as ShellWord;
    if (takesValue?.test(word.text) === true) {
      hasScript ||= word.text.endsWith("e");
      at += 1;
    } else if (!/^-|^[+]?\d+$|^\]\]?$/.test(word.text)) names.push(word);
  }
  return PATTERN_FIRST.has(command) && !hasScript ? names.slice(1) : names;
}

const READS_INPUT = new Set([
  "cat",
  "head",
  "tail",
  "wc",
  "sort",
  "uniq",
  "cut",
  "column",
  "nl",
  "rev",
  "tac",
  "fold",
  "paste",
  "grep",
  "egrep",
  "fgrep",
  "sed",
  "awk",
  "gawk",
  "jq",
  "xargs",
  "less",
  "tee",
  "strings",
  "base64",
  "md5sum",
  "sha256sum",
  "od",
  "xxd",
]);

function isAbsolute(word: ShellWord | undefined): boolean {
  return word !== undefined && !word.startsOpen && word.text.startsWith("/");
}
