/** Reads the words of one command as one form of its program: options in every spelling, then operands. */
import type { PlainCommand } from "../shell/plain-line.ts";
import { isAwkPrint, isJqFilter, isSedPrint } from "./print-scripts.ts";
import {
  DOES,
  type Does,
  type Form,
  type Operand,
  type Option,
  type OptionEffect,
  type OptionTable,
  type Program,
  type WordKind,
} from "./program.ts";

export interface PathUse {
  readonly path: string;
  readonly access: "read" | "write";
}

const PATTERN = /[*?[]/;
const ASSIGNMENT = /^([A-Za-z_]\w*)=/;
/** Permissions without set-uid, set-gid (`4755`, `u+s`) and the sticky bit. */
const MODE = /^(?:0?[0-7]{3}|[ugoa]*[-+=][rwxX]*(?:,[ugoa]*[-+=][rwxX]*)*)$/;

/** Tests that a word belongs to a kind; every word belongs to the kinds that are not here. */
const IS_OF_KIND: Partial<Record<WordKind["kind"], (word: string) => boolean>> = {
  // Many programs take `@FILE` for further options.
  path: (word) => !word.startsWith("@"),
  out: (word) => !word.startsWith("@"),
  script: (word) => word !== "-" && !word.startsWith("@"),
  number: (word) => /^[+-]?\d+$/.test(word),
  "date-format": (word) => word.startsWith("+"),
  "sed-print": isSedPrint,
  "awk-print": isAwkPrint,
  "jq-filter": isJqFilter,
  target: (word) => !word.includes("="),
  mode: (word) => MODE.test(word),
  assignment: (word) => ASSIGNMENT.test(word),
};

const DOES_AT_LEAST: Readonly<Record<OptionEffect, Does>> = {
  none: "read",
  watches: "watch",
  runs: "run",
  writes: "write",
  sends: "send",
  unsafe: "send",
};

export class WordReader {
  readonly options: { readonly name: string; readonly value: string | null }[];
  readonly paths: PathUse[];
  readonly directories: string[];
  readonly operands: string[] = [];
  readonly globs: string[] = [];
  readonly assignments: { readonly name: string; readonly value: string }[] = [];
  /** Why the words are not understood: the first reason. */
  problem: string | null;
  readonly #effects: OptionEffect[];
  readonly #words: readonly string[];
  readonly #patterns: ReadonlySet<number>;
  readonly #program: Program;
  readonly #tables: readonly OptionTable[];

  /** `before`: the reader of the words up to the subcommand. */
  constructor(
    { words, globs }: Pick<PlainCommand, "words" | "globs">,
    program: Program,
    tables: readonly OptionTable[],
    before?: WordReader,
  ) {
    this.#words = words;
    this.#patterns = globs;
    this.#program = program;
    this.#tables = tables;
    this.options = [...(before?.options ?? [])];
    this.paths = [...(before?.paths ?? [])];
    this.directories = [...(before?.directories ?? [])];
    this.#effects = [...(before === undefined ? [] : before.#effects)];
    this.problem = before?.problem ?? null;
  }

  /**
   * Separates options from operands, of which it takes `limit`; returns the index of the first word
   * that is left.
   */
  scan(start: number, { limit, assignments }: Pick<Form, "limit" | "assignments">): number {
    let ended = false;
    let isAssigning = assignments;
    for (let index = start; index < this.#words.length; ) {
      const word = this.#wordAt(index);
      const after = ended ? null : this.#takeOption(word, index, index === start);
      if (after !== null) {
        ended = word === "--" && !this.#program.loose;
        index = after;
        continue;
      }
      isAssigning &&= ASSIGNMENT.test(word);
      if (!isAssigning && this.operands.length >= limit) return index;
      if (!ended) this.#checkPattern(index);
      this.operands.push(word);
      index += 1;
      if (!isAssigning && this.operands.length >= limit) return index;
    }
    return this.#words.length;
  }

  /** Assigns the operands to the form's operand kinds. */
  fitOperands({ operands, command, least }: Form, hasCommand: boolean): void {
    let spare = this.operands.length - least;
    if (command?.repeat === "once" && !hasCommand) this.fail("there is no command in it");
    else if (spare < 0) this.fail(`${least} operands are needed`);
    if (this.problem !== null) return;
    let index = 0;
    for (const operand of operands) {
      const count = countWords(operand, spare);
      if (operand.repeat !== "once" || operand.kind === "rest") spare -= count;
      const words = this.operands.slice(index, index + count);
      const odd = words.find((word) => !this.#take(operand, word));
      if (odd !== undefined) this.fail(`the operand ${odd} is not known`);
      index += count;
    }
    const more = this.operands[index];
    if (more !== undefined) this.fail(`the operand ${more} is one too many`);
  }

  /**
   * What a form does with these words: the strictest of all; a file that it writes makes a read a
   * write.
   */
  judge(does: Does): Does | "unknown" {
    if (this.problem !== null) return "unknown";
    const writes = this.paths.some(({ access }) => access === "write");
    const ranks = this.#effects.map((effect) => DOES.indexOf(DOES_AT_LEAST[effect]));
    const own = DOES.indexOf(writes && does !== "run" && does !== "send" ? "write" : does);
    return DOES[Math.max(own, ...new Set(ranks))] ?? "unknown";
  }

  fail(problem: string): void {
    this.problem ??= problem;
  }

  #wordAt(index: number): string {
    return this.#words[index] ?? "";
  }

  #find(spelling: string): Option | undefined {
    for (const table of this.#tables) {
      const option = table.get(spelling);
      if (option !== undefined) return option;
    }
    return undefined;
  }

  /** Returns the index after an option and its values; null where the word is an operand. */
  #takeOption(word: string, index: number, isFirst: boolean): number | null {
    const { bundle, loose } = this.#program;
    if (word === "--" && !loose) return index + 1;
    if (isFirst && bundle && this.#isBundle(word)) return this.#takeBundle(word, index + 1);
    const option = this.#find(word);
    if (option !== undefined) return this.#takeValues(option, index + 1);
    if (this.#takeAttached(word, index)) return index + 1;
    if (!word.startsWith("-") || word === "-") return null;
    const isCluster = !word.startsWith("--") && this.#find(word.slice(0, 2)) !== undefined;
    if (isCluster) return this.#takeCluster(word, index);
    if (loose) return null;
    this.fail(`the option ${word} is not known`);
    return index + 1;
  }

  #isBundle(word: string): boolean {
    return /^[A-Za-z]+$/.test(word) && [...word].every((letter) => this.#find(`-${letter}`));
  }

  /** `tar xzf FILE`: the values of the letters follow in their order. */
  #takeBundle(word: string, start: number): number {
    const options = [...word].flatMap((letter) => this.#find(`-${letter}`) ?? []);
    return options.reduce((next, option) => this.#takeValues(option, next), start);
  }

  /** `--name=value`, `-name=value`, `name=value` and `-5`. */
  #takeAttached(word: string, index: number): boolean {
    const count = /^-\d+$/.test(word) ? this.#find("-#") : undefined;
    if (count !== undefined) this.#add(count, word.slice(1));
    const equals = word.indexOf("=");
    if (count !== undefined || equals < 1) return count !== undefined;
    // `-o=a` gives the letter `-o` the value `=a`.
    const isLetter = equals === 2 && word.startsWith("-");
    const option =
      (isLetter ? undefined : this.#find(word.slice(0, equals))) ??
      this.#find(word.slice(0, equals + 1));
    if (option === undefined) return false;
    if (option.values.length !== 1) this.fail(`the option ${option.name} takes no value after =`);
    if (this.#patterns.has(index) && PATTERN.test(word.slice(0, equals)))
      this.fail(`the option ${word} is a pattern`);
    this.#add(option, word.slice(equals + 1));
    return true;
  }

  /** `-xzf FILE`, `-n5`: letters, the last of which may have a value. */
  #takeCluster(word: string, index: number): number {
    if (this.#patterns.has(index)) this.fail(`the option ${word} is a pattern`);
    for (let at = 1; at < word.length; at += 1) {
      const option = this.#find(`-${word.charAt(at)}`);
      if (option === undefined) {
        this.fail(`the option -${word.charAt(at)} in ${word} is not known`);
        return index + 1;
      }
      if (option.values.length > 0) return this.#takeValues(option, index + 1, word.slice(at + 1));
      this.#add(option, null);
    }
    return index + 1;
  }

  /**
   * Takes the values of an option, the first of which may be `attached`; returns the index after
   * them.
   */
  #takeValues(option: Option, start: number, attached = ""): number {
    if (option.values.length === 0 || (option.optional && attached === "")) {
      this.#add(option, null);
      return start;
    }
    let index = start;
    for (const [position, { kind }] of option.values.entries()) {
      if (kind === "rest") {
        for (; index < this.#words.length; index += 1) this.operands.push(this.#wordAt(index));
        return index;
      }
      if (position === 0 && attached !== "") {
        this.#add(option, attached);
        continue;
      }
      if (index >= this.#words.length) {
        this.fail(`the option ${option.name} has no value`);
        return index;
      }
      this.#checkPattern(index);
      this.#add(option, this.#wordAt(index), position);
      index += 1;
    }
    return index;
  }

  #add(option: Option, value: string | null, position = 0): void {
    const { name, effect, values } = option;
    this.options.push({ name, value });
    if (effect === "unsafe") this.fail(`the option ${name} runs or loads what its value names`);
    else if (effect !== "none") this.#effects.push(effect);
    const kind = values[position];
    if (value !== null && kind !== undefined && !this.#take(kind, value))
      this.fail(`the value of ${name} is not known`);
  }

  /** A leading pattern may match a file whose name looks like an option, such as `-rf`. */
  #checkPattern(index: number): void {
    const word = this.#wordAt(index);
    if (this.#patterns.has(index) && PATTERN.test(word.charAt(0)) && !this.#program.globs)
      this.fail(`the pattern ${word} may stand for an option: write ./${word}`);
  }

  /** Stores a word under its kind; false where the word does not belong to it. */
  #take({ kind, choices }: WordKind, word: string): boolean {
    if (choices !== null) return choices.has(word);
    if (IS_OF_KIND[kind]?.(word) === false) return false;
    if (kind === "path" || kind === "script" || kind === "revision") this.#addPath(word, "read");
    else if (kind === "out") this.#addPath(word, "write");
    else if (kind === "directory") this.directories.push(word);
    else if (kind === "glob") this.globs.push(word);
    else if (kind === "assignment") {
      const equals = word.indexOf("=");
      this.assignments.push({ name: word.slice(0, equals), value: word.slice(equals + 1) });
    }
    if (kind === "revision" && word.includes(":"))
      this.#addPath(word.slice(word.indexOf(":") + 1), "read");
    return true;
  }

  /** `-` is standard input or output. */
  #addPath(path: string, access: "read" | "write"): void {
    if (path === "-") return;
    if (this.#program.hosts && /^[^/]*:/.test(path)) this.#effects.push("sends");
    else this.paths.push({ path, access });
  }
}

function countWords({ kind, repeat }: Operand, spare: number): number {
  if (repeat === "many" || kind === "rest") return spare;
  return repeat === "maybe" ? Math.min(1, spare) : 1;
}
