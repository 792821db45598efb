/**
 * The tables of programs: their subcommands, their options, which of their operands are paths, and
 * what each form does. The tables are data (`*.yaml` beside this file); docs/commands.md explains them.
 */

/**
 * What a form of a program does, from the mildest to the strictest. `read`: only reads. `watch`: a
 * read whose answer changes by itself (`ps`, `docker ps`). `run`: repeatable work (tests, builds, a
 * script of the workspace). `write`: changes files or state. `send`: communicates with another
 * machine.
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
 * What a word may be. `word` and `value`: data. `path` is read and `out` written; a `script` is
 * run, so it is not standard input. `directory`: the working directory of the program. `glob`:
 * names of the files that the program opens or, where a form `lists`, prints. `revision`: a path,
 * or `REVISION:PATH` of git. `mode`: of a file, for reading, writing and running alone. `command`:
 * this word and all that follow are a command of their own; `fed-command`: one that gets further
 * operands from standard input. `rest`: all words that follow.
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
  /** The only texts that are allowed; null where the kind alone decides. */
  readonly choices: ReadonlySet<string> | null;
}

export interface Option {
  /** The canonical name: the first long spelling, or the first one. */
  readonly name: string;
  readonly effect: OptionEffect;
  /** One kind for each value; empty for a flag. */
  readonly values: readonly WordKind[];
  /** Whether a value is only recognized when it is attached: `--color=always`. */
  readonly optional: boolean;
}

/** By spelling. */
export type OptionTable = ReadonlyMap<string, Option>;

export interface Operand extends WordKind {
  readonly repeat: "once" | "maybe" | "many";
}

export interface Form {
  readonly does: Does;
  /** Tables of this form, its node, and all nodes above. */
  readonly tables: readonly OptionTable[];
  /** All operands except a command at the end. */
  readonly operands: readonly Operand[];
  readonly command: Operand | null;
  /** The least number of operands. */
  readonly least: number;
  /**
   * After this many operands no word is an option; Infinity: every word may be one. A leading
   * `NAME=VALUE` counts where it is 0.
   */
  readonly limit: number;
  /** Whether a leading `NAME=VALUE` leaves later words free to be options. */
  readonly assignments: boolean;
  /** The form applies only where one of these options is used; canonical names. */
  readonly needs: ReadonlySet<string> | null;
  /** Whether the output consists only of names of files below the paths that it reads. */
  readonly lists: boolean;
}

export interface ProgramNode {
  /** Tables of this node and all nodes above. */
  readonly tables: readonly OptionTable[];
  /** Tried from top to bottom. */
  readonly forms: readonly Form[];
  /** By every name; the value has the canonical one. */
  readonly subcommands: ReadonlyMap<string, { readonly name: string; readonly node: ProgramNode }>;
}

export interface Program extends ProgramNode {
  readonly name: string;
  /** The first operand may be a cluster of options without its dash: `tar xzf`. */
  readonly bundle: boolean;
  /** Whether words with a dash that are no option of the table are operands: `echo ---`. */
  readonly loose: boolean;
  /**
   * Whether no option of the program harms more than its operands, so that `*.txt` may come before
   * `--`.
   */
  readonly globs: boolean;
  /** Whether `HOST:PATH` and URLs as paths mean another machine. */
  readonly hosts: boolean;
}

/** Every program under each of its names. */
export type Programs = Pick<ReadonlyMap<string, Program>, "get" | "has">;
