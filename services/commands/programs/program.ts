/**
 * The tables of programs: their subcommands, their options, which of their operands are paths, and
 * what each form does. The tables are data (`*.yaml` beside this file); docs/commands.md explains them.
 */

/**
 * What a form of a program does, from the mildest to the strictest.
 * `read`: only reads. `watch`: a read whose answer changes by itself (`ps`, `docker ps`).
 * `run`: repeatable work (tests, builds, a script of the workspace). `write`: changes files or state.
 * `send`: leaves the machine.
 */
export const DOES = ["read", "watch", "run", "write", "send"] as const;
export type Does = (typeof DOES)[number];

export function isReading(does: Does | "unknown"): boolean {
  return does === "read" || does === "watch";
}

/** What an option adds to a form. `unsafe`: it runs or loads what its value names. */
export const OPTION_EFFECTS = ["none", "watches", "runs", "writes", "sends", "unsafe"] as const;
export type OptionEffect = (typeof OPTION_EFFECTS)[number];

/**
 * What a word may be. `word` and `value`: data. `path` is read and `out` written; a `script` is run, so it is not
 * standard input. `directory`: where the program works. `glob`: names of the files that the program opens or, where
 * a form `lists`, prints. `revision`: a path, or `REVISION:PATH` of git. `mode`: of a file, for reading, writing and
 * running alone. `command`: it and all that follows are a command of their own; `fed-command`: one that gets further
 * operands from standard input. `rest`: all that follows.
 */
export const WORD_KINDS = [
  "word",
  "value",
  "path",
  "out",
  "script",
  "directory",
  "glob",
  "revision",
  "number",
  "date-format",
  "sed-print",
  "awk-print",
  "jq-filter",
  "assignment",
  "target",
  "mode",
  "command",
  "fed-command",
  "rest",
] as const;

export interface WordKind {
  readonly kind: (typeof WORD_KINDS)[number];
  /** The only texts that fit; null where the kind alone decides. */
  readonly choices: ReadonlySet<string> | null;
}

export interface Option {
  /** The canonical name: the first long spelling, or the first one. */
  readonly name: string;
  readonly effect: OptionEffect;
  /** One for each value; empty for a flag. */
  readonly values: readonly WordKind[];
  /** The value is there only when it is attached: `--color=always`. */
  readonly optional: boolean;
}

/** By spelling. */
export type OptionTable = ReadonlyMap<string, Option>;

export interface Operand extends WordKind {
  readonly repeat: "once" | "maybe" | "many";
}

export interface Form {
  readonly does: Does;
  /** Of this form and its node, and of all nodes above. */
  readonly tables: readonly OptionTable[];
  /** All but a command at the end. */
  readonly operands: readonly Operand[];
  readonly command: Operand | null;
  /** At least so many operands are needed. */
  readonly least: number;
  /** So many operands end the options; Infinity: all words are read. `NAME=VALUE` in front counts where it is 0. */
  readonly limit: number;
  /** `NAME=VALUE` in front of the operands ends no options. */
  readonly assignments: boolean;
  /** The form fits only where one of these options is used; canonical names. */
  readonly needs: ReadonlySet<string> | null;
  /** The output is nothing but names of files below the paths that it reads. */
  readonly lists: boolean;
}

export interface ProgramNode {
  /** Of this node and all nodes above. */
  readonly tables: readonly OptionTable[];
  /** Tried from top to bottom. */
  readonly forms: readonly Form[];
  /** Under every name; the canonical one is in the value. */
  readonly subcommands: ReadonlyMap<string, { readonly name: string; readonly node: ProgramNode }>;
}

export interface Program extends ProgramNode {
  readonly name: string;
  /** The first operand may be a cluster of options without its dash: `tar xzf`. */
  readonly bundle: boolean;
  /** Words with a dash that are no option of the table are operands: `echo ---`. */
  readonly loose: boolean;
  /** No option of the program harms more than its operands, so `*.txt` may stand before `--`. */
  readonly globs: boolean;
  /** `HOST:PATH` and URLs as paths lead to another machine. */
  readonly hosts: boolean;
}

/** Every program under each of its names. */
export type Programs = Pick<ReadonlyMap<string, Program>, "get" | "has">;
