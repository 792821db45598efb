/**
 * What is known of programs: their subcommands, their options, which of their operands are paths, and
 * what each form does. It is data (`*.yaml` beside this file); docs/commands.md says how to add some.
 */

/**
 * What a form of a program does, from the mildest to the strictest.
 * `read`: only reads. `watch`: a read whose answer changes by itself (`ps`, `docker ps`).
 * `run`: repeatable work (tests, builds, a script of the workspace). `write`: changes files or state.
 * `send`: leaves the machine.
 */
export const DOES = ["read", "watch", "run", "write", "send"] as const;

export type Does = (typeof DOES)[number];

/** What one form of a program knows, as the YAML files hold it. */
export interface FormSpec {
  /** What the form does when no option makes it do more. */
  readonly does?: Does;
  /** Options without a value and without an effect; all spellings of one in one text. */
  readonly flags?: readonly string[];
  /** `"-n, --lines": value`: every spelling of an option, and its kind. `-#` is any `-NUMBER`. */
  readonly options?: Readonly<Record<string, string>>;
  /** Names of `sets` of the program, whose options are known here too. */
  readonly uses?: readonly string[];
  /** Kinds of the operands in their order, such as `[word, "path..."]`. */
  readonly operands?: readonly string[];
  /** The form fits only where at least one of these options is used. */
  readonly needs?: readonly string[];
  /** The output is nothing but names of files below the paths that it reads. */
  readonly lists?: boolean;
}

/** Options that several forms share. */
export type SetSpec = Pick<FormSpec, "flags" | "options">;

export interface NodeSpec extends FormSpec {
  /** Options that are known here and below every subcommand. */
  readonly everywhere?: SetSpec;
  /** Forms that are tried from top to bottom; each one also knows the options of the node. */
  readonly forms?: readonly FormSpec[];
  /** By name. `"install, i"`: two names of one; `"start | stop"`: two with the same table. */
  readonly subcommands?: Readonly<Record<string, NodeSpec>>;
}

export interface ProgramSpec extends NodeSpec {
  /** Other names of the same program: `[python3]`. */
  readonly also?: readonly string[];
  readonly sets?: Readonly<Record<string, SetSpec>>;
  /** The first operand may be a cluster of options without its dash: `tar xzf`. */
  readonly bundle?: boolean;
  /** Words with a dash that are no known option are operands: `echo ---`. */
  readonly loose?: boolean;
  /** No option of the program harms more than its operands, so `*.txt` may stand before `--`. */
  readonly globs?: boolean;
  /** `HOST:PATH` and URLs as paths lead to another machine. */
  readonly hosts?: boolean;
  /** Lines, and what each one does; `unknown` where it must not be understood. Run as tests. */
  readonly examples?: Readonly<Record<string, Does | "unknown">>;
}

/** By name; `"gzip | xz"`: two programs with the same table. */
export type ProgramSpecs = Readonly<Record<string, ProgramSpec>>;

/** The effect of an option. `unsafe`: it runs or loads what it is told, so the form is unknown. */
export type OptionEffect = "none" | "watches" | "runs" | "writes" | "sends" | "unsafe";

/**
 * What a word may be. `word` and `value`: data. `path`: a file that is read. `out`: one that is
 * written. `script`: a path that is run, and not `-`. `directory`: where the program works, so that its paths are relative to it. `revision`: a
 * path, or `REVISION:PATH` of git. `number`: digits. `date-format`: `+%F`. `sed-print`, `awk-print`, `jq-filter`: see print-scripts.ts.
 * `assignment`: `NAME=VALUE`. `target`: what make makes, and no `NAME=VALUE`. `mode`: of a
 * file, for its reading, writing and running alone. `command`: it and all that follows are a command of their own;
 * `fed-command`: one that gets further operands from standard input. `rest`: all that follows.
 */
export const WORD_KINDS = [
  "word",
  "value",
  "path",
  "out",
  "script",
  "directory",
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

export type OptionTable = ReadonlyMap<string, Option>;

export interface Operand extends WordKind {
  readonly repeat: "once" | "maybe" | "many";
}

/** What the operands of a form say of the words before them. */
export interface OperandShape {
  /** All but a command at the end. */
  readonly plain: readonly Operand[];
  /** The command at the end; null: there is none. */
  readonly command: Operand | null;
  /** How many words are needed. */
  readonly least: number;
  /** So many operands end the options; Infinity: all words are read. */
  readonly limit: number;
  /** `NAME=VALUE` in front of them does not count. */
  readonly assignments: boolean;
}

export interface Form {
  readonly does: Does;
  readonly options: OptionTable;
  /** Of this form, its node and all nodes above. */
  readonly tables: readonly OptionTable[];
  readonly operands: readonly Operand[];
  readonly shape: OperandShape;
  /** Canonical names. */
  readonly needs: ReadonlySet<string> | null;
  readonly lists: boolean;
}

export interface ProgramNode {
  readonly options: OptionTable;
  readonly everywhere: OptionTable;
  /** Of this node and all nodes above. */
  readonly tables: readonly OptionTable[];
  readonly forms: readonly Form[];
  /** Under every name; the canonical one is in the value. */
  readonly subcommands: ReadonlyMap<string, { readonly name: string; readonly node: ProgramNode }>;
}

export interface Program extends ProgramNode {
  readonly name: string;
  readonly bundle: boolean;
  readonly loose: boolean;
  readonly globs: boolean;
  readonly hosts: boolean;
}

/** Programs by each of their names. */
export type Programs = Pick<ReadonlyMap<string, Program>, "get" | "has">;
