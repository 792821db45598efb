/** What is collected while the words of one command are read. */
import { isAwkPrint, isJqFilter, isSedPrint } from "./print-scripts.ts";
import { DOES, type Does, type OptionEffect, type Program, type WordKind } from "./program-spec.ts";

/** Mutable; it lives as long as one attempt to read one form. */
export interface Reading {
  readonly options: { readonly name: string; readonly value: string | null }[];
  readonly operands: string[];
  readonly assignments: { readonly name: string; readonly value: string }[];
  readonly paths: { readonly path: string; readonly access: "read" | "write" }[];
  readonly directories: string[];
  readonly effects: OptionEffect[];
  problem: string | null;
}

export function startReading(from?: Reading): Reading {
  return {
    options: from === undefined ? [] : [...from.options],
    operands: [],
    assignments: [],
    paths: from === undefined ? [] : [...from.paths],
    directories: from === undefined ? [] : [...from.directories],
    effects: from === undefined ? [] : [...from.effects],
    problem: from?.problem ?? null,
  };
}

/** Neither for the rights of its owner (`4755`, `u+s`) nor the sticky bit. */
const MODE = /^(?:0?[0-7]{3}|[ugoa]*[-+=][rwxX]*(?:,[ugoa]*[-+=][rwxX]*)*)$/;
const HOST = /^[^/]*:/;
const DIGITS = /^[+-]?\d+$/;
const ASSIGNMENT = /^([A-Za-z_]\w*)=/;

/** Stores a word under its kind; false where it is no such word. */
export function takeWord(
  reading: Reading,
  program: Program,
  { kind, choices }: WordKind,
  word: string,
): boolean {
  if (choices !== null) return choices.has(word);
  switch (kind) {
    case "script":
      if (word === "-" || word.startsWith("@")) return false;
      takePath(reading, program, word, "read");
      return true;
    case "path":
    case "out":
      // Many programs take `@FILE` for further options.
      if (word.startsWith("@")) return false;
      takePath(reading, program, word, kind === "out" ? "write" : "read");
      return true;
    case "revision":
      takePath(reading, program, word, "read");
      if (word.includes(":")) takePath(reading, program, word.slice(word.indexOf(":") + 1), "read");
      return true;
    case "directory":
      reading.directories.push(word);
      return true;
    case "number":
      return DIGITS.test(word);
    case "date-format":
      return word.startsWith("+");
    case "sed-print":
      return isSedPrint(word);
    case "awk-print":
      return isAwkPrint(word);
    case "jq-filter":
      return isJqFilter(word);
    case "target":
      return !word.includes("=");
    case "mode":
      return MODE.test(word);
    case "assignment":
      return takeAssignment(reading, word);
    default:
      return true;
  }
}

/** `-` is standard input or output. */
function takePath(
  reading: Reading,
  program: Program,
  path: string,
  access: "read" | "write",
): void {
  if (path === "-") return;
  if (program.hosts && HOST.test(path)) reading.effects.push("sends");
  else reading.paths.push({ path, access });
}

function takeAssignment(reading: Reading, word: string): boolean {
  const name = ASSIGNMENT.exec(word)?.[1];
  if (name === undefined) return false;
  reading.assignments.push({ name, value: word.slice(name.length + 1) });
  return true;
}

export const isAssignment = (word: string): boolean => ASSIGNMENT.test(word);

const DOES_AT_LEAST: Readonly<Record<OptionEffect, Does>> = {
  none: "read",
  watches: "watch",
  runs: "run",
  writes: "write",
  sends: "send",
  unsafe: "send",
};

/** What a form does with these options: the strictest; a file that it writes makes a read a write. */
export function judgeReading(reading: Reading, does: Does): Does | "unknown" {
  if (reading.problem !== null) return "unknown";
  const writes = reading.paths.some(({ access }) => access === "write");
  const start = writes && DOES.indexOf(does) < DOES.indexOf("run") ? "write" : does;
  return reading.effects.reduce((strictest, effect) => stricter(strictest, effect), start);
}

function stricter(does: Does, effect: OptionEffect): Does {
  const least = DOES_AT_LEAST[effect];
  return DOES.indexOf(least) > DOES.indexOf(does) ? least : does;
}
