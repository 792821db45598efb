/** Tells the options of a command from its operands, in every spelling that its table knows. */
import type { OperandShape, Option, OptionTable, Program } from "./program-spec.ts";
import { isAssignment, type Reading, takeWord } from "./reading.ts";

/** The words of a command, and which of them hold an unquoted pattern. */
export interface Words {
  readonly words: readonly string[];
  readonly globs: ReadonlySet<number>;
}

/** So many operands are taken; what follows is left alone. */
type ScanLimits = Pick<OperandShape, "limit" | "assignments">;

/** What one scan needs beside the words. */
export interface Scan extends Words {
  readonly program: Program;
  readonly tables: readonly OptionTable[];
  readonly reading: Reading;
}

const PATTERN_START = /^[*?[]/;
const PATTERN = /[*?[]/;
const NUMBER = /^-\d+$/;
const BUNDLE = /^[A-Za-z]+$/;

/** Fills `reading`; the index of the first word that was left alone. */
export function scanOptions(scan: Scan, start: number, limits: ScanLimits): number {
  const { words, program, reading } = scan;
  let ended = false;
  let { assignments } = limits;
  let index = start;
  while (index < words.length) {
    const word = words[index] ?? "";
    const after = ended ? null : takeOption(scan, index, index === start);
    if (after !== null) {
      ended = word === "--" && !program.loose;
      index = after;
      continue;
    }
    assignments = assignments && isAssignment(word);
    const free = assignments ? 2 : limits.limit - reading.operands.length;
    if (free < 1) return index;
    takeOperand(scan, index, ended);
    index += 1;
    if (free === 1) return index;
  }
  return index;
}

/** The index after an option and its values; null where the word is an operand. */
function takeOption(scan: Scan, index: number, isFirst: boolean): number | null {
  const word = scan.words[index] ?? "";
  if (word === "--" && !scan.program.loose) return index + 1;
  if (isFirst && scan.program.bundle && isBundle(scan, word)) return takeBundle(scan, index);
  const whole = findOption(scan.tables, word);
  if (whole !== undefined) return takeValues(scan, whole, index + 1);
  if (takeAttached(scan, index)) return index + 1;
  if (!word.startsWith("-") || word === "-") return null;
  if (!word.startsWith("--") && knowsLetter(scan, word)) return takeCluster(scan, index);
  if (scan.program.loose) return null;
  addProblem(scan.reading, `the option ${word} is not known`);
  return index + 1;
}

/** `--name=value`, `-name=value`, `name=value` and `-5`. */
function takeAttached(scan: Scan, index: number): boolean {
  const word = scan.words[index] ?? "";
  if (word.startsWith("-") && NUMBER.test(word)) {
    const option = findOption(scan.tables, "-#");
    if (option === undefined) return false;
    addOption(scan, option, word.slice(1));
    return true;
  }
  const equals = word.indexOf("=");
  if (equals < 1) return false;
  const isShort = equals === 2 && word.startsWith("-");
  const option =
    (isShort ? undefined : findOption(scan.tables, word.slice(0, equals))) ??
    findOption(scan.tables, word.slice(0, equals + 1));
  if (option === undefined) return false;
  if (option.values.length !== 1) {
    addProblem(scan.reading, `the option ${option.name} takes no value after =`);
  }
  if (scan.globs.has(index) && PATTERN.test(word.slice(0, equals))) {
    addProblem(scan.reading, `the option ${word} is a pattern`);
  }
  addOption(scan, option, word.slice(equals + 1));
  return true;
}

/** `-xzf FILE`, `-n5`: letters, the last of which may have a value. */
function takeCluster(scan: Scan, index: number): number {
  const word = scan.words[index] ?? "";
  if (scan.globs.has(index)) addProblem(scan.reading, `the option ${word} is a pattern`);
  for (let at = 1; at < word.length; at += 1) {
    const option = findOption(scan.tables, `-${word[at]}`);
    const rest = word.slice(at + 1);
    if (option === undefined) {
      addProblem(scan.reading, `the option -${word[at]} in ${word} is not known`);
      return index + 1;
    }
    if (option.values.length > 0) return takeValues(scan, option, index + 1, rest);
    addOption(scan, option, null);
  }
  return index + 1;
}

/** `tar xzf FILE`: the values of the letters follow in their order. */
function takeBundle(scan: Scan, index: number): number {
  let next = index + 1;
  for (const letter of scan.words[index] ?? "") {
    const option = findOption(scan.tables, `-${letter}`);
    if (option !== undefined) next = takeValues(scan, option, next);
  }
  return next;
}

const isBundle = (scan: Scan, word: string): boolean =>
  BUNDLE.test(word) && [...word].every((letter) => findOption(scan.tables, `-${letter}`));

const knowsLetter = (scan: Scan, word: string): boolean =>
  findOption(scan.tables, word.slice(0, 2)) !== undefined;

/** Takes the values of an option, the first of which may be `attached`; the index after them. */
function takeValues(scan: Scan, option: Option, start: number, attached = ""): number {
  const { words, reading } = scan;
  if (option.values.length === 0 || (option.optional && attached === "")) {
    addOption(scan, option, null);
    return start;
  }
  let index = start;
  for (const [position, { kind }] of option.values.entries()) {
    if (kind === "rest") {
      for (const word of words.slice(index)) reading.operands.push(word);
      return words.length;
    }
    if (position === 0 && attached !== "") {
      addOption(scan, option, attached);
      continue;
    }
    const value = words[index];
    if (value === undefined) {
      addProblem(reading, `the option ${option.name} has no value`);
      return index;
    }
    checkPattern(scan, index);
    addOption(scan, option, value, position);
    index += 1;
  }
  return index;
}

function takeOperand(scan: Scan, index: number, ended: boolean): void {
  if (!ended) checkPattern(scan, index);
  scan.reading.operands.push(scan.words[index] ?? "");
}

/** A pattern in front may stand for a file that is named like an option, such as `-rf`. */
function checkPattern({ words, globs, program, reading }: Scan, index: number): void {
  const word = words[index] ?? "";
  if (globs.has(index) && PATTERN_START.test(word) && !program.globs) {
    addProblem(reading, `the pattern ${word} may stand for an option: write ./${word}`);
  }
}

function addOption(scan: Scan, option: Option, value: string | null, position = 0): void {
  const { reading, program } = scan;
  reading.options.push({ name: option.name, value });
  if (option.effect === "unsafe") {
    addProblem(reading, `the option ${option.name} runs or loads what it is told`);
  } else if (option.effect !== "none") {
    reading.effects.push(option.effect);
  }
  const kind = option.values[position];
  if (value !== null && kind !== undefined && !takeWord(reading, program, kind, value)) {
    addProblem(reading, `the value of ${option.name} is not known`);
  }
}

function addProblem(reading: Reading, problem: string): void {
  reading.problem ??= problem;
}

function findOption(tables: readonly OptionTable[], spelling: string): Option | undefined {
  for (const table of tables) {
    const option = table.get(spelling);
    if (option !== undefined) return option;
  }
  return undefined;
}
