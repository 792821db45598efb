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

/** Tables of one level of a program, as the YAML files hold them. */
export interface FormSpec {
  /** What the form does when no option makes it do more. */
  readonly does?: Does;
  /** `"-n, --lines": value`: every spelling of an option, and its kind. */
  readonly options?: Readonly<Record<string, string>>;
  /** Kinds of the operands in their order, such as `[word, "path..."]`. */
  readonly operands?: readonly string[];
  /** The form fits only where at least one of these options is used. */
  readonly needs?: readonly string[];
}

export interface NodeSpec extends FormSpec {
  /** Options that are known here and below every subcommand. */
  readonly everywhere?: Readonly<Record<string, string>>;
  /** Forms that are tried from top to bottom; each one also knows `options`. */
  readonly forms?: readonly FormSpec[];
  /** By name; further names follow after commas: `"install, i"`. */
  readonly subcommands?: Readonly<Record<string, NodeSpec>>;
}

export interface ProgramSpec extends NodeSpec {
  /** Other names of the same program: `[python3]`. */
  readonly also?: readonly string[];
  /** `-5` stands for the option that is named here: `head -5` for `--lines`. */
  readonly numbers?: string;
  /** The first operand may be a cluster of options without its dash: `tar xzf`. */
  readonly bundle?: boolean;
  /** Words with a dash that are no known option are operands: `echo ---`. */
  readonly loose?: boolean;
  /** No option of the program harms more than its operands, so `*.txt` may stand before `--`. */
  readonly globs?: boolean;
  /** `HOST:PATH` and URLs as paths lead to another machine. */
  readonly hosts?: boolean;
  /** Lines, and what each one does; `unknown` where it must not be understood. Run as tests. */
  readonly examples: Readonly<Record<string, Does | "unknown">>;
}

/** The effect of an option. `unsafe`: it runs or loads what it is told, so the form is unknown. */
export type OptionEffect = "none" | "watches" | "runs" | "writes" | "sends" | "unsafe";

/**
 * What a word is: `word` and `value` are data, `path` is read, `out` is written, `directory` is read
 * and later paths are relative to it; `command` and `rest` take all that follows.
 */
export interface WordKind {
  readonly kind: string;
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

export interface Form {
  readonly does: Does;
  readonly options: OptionTable;
  readonly operands: readonly Operand[];
  /** Canonical names. */
  readonly needs: ReadonlySet<string> | null;
}

export interface ProgramNode {
  readonly options: OptionTable;
  readonly everywhere: OptionTable;
  readonly forms: readonly Form[];
  /** Under every name; the canonical one is in the value. */
  readonly subcommands: ReadonlyMap<string, { readonly name: string; readonly node: ProgramNode }>;
}

export interface Program extends ProgramNode {
  readonly name: string;
  readonly numbers: string | null;
  readonly bundle: boolean;
  readonly loose: boolean;
  readonly globs: boolean;
  readonly hosts: boolean;
}

/** Every program under each of its names. */
export type Programs = ReadonlyMap<string, Program>;
