/** Reads what one plain command does from the tables of programs. */
import type { PlainCommand } from "../shell/plain-line.ts";
import type { Does, Programs } from "./program-spec.ts";

export interface CommandForm {
  /** Without its directory (`/usr/bin/git` is `git`); a script of the workspace begins with `./`. */
  readonly program: string;
  /** The program and its subcommands, also where the rest is not known: `["git", "push"]`. */
  readonly path: readonly string[];
  /** Under their canonical names, one entry for each value, in the order of the line. */
  readonly options: readonly { readonly name: string; readonly value: string | null }[];
  readonly operands: readonly string[];
  /**
   * As written, relative to the command's `directory`. A path with `*`, `?` or `[` stands for every
   * name that fits it.
   */
  readonly paths: readonly { readonly path: string; readonly access: "read" | "write" }[];
  /** The inner command is not part of it: a line is as strict as the strictest of both. */
  readonly does: Does | "unknown";
  /** Why it is unknown, as one clause for people; null where it is known. */
  readonly problem: string | null;
  /** The command that a transparent wrapper (`timeout 5 ls`) runs. */
  readonly inner: PlainCommand | null;
  /** The inner command gets further operands from standard input, as with `xargs`. */
  readonly fed: boolean;
  /** The output is nothing but names of files below `paths` (or `directory`), as of `find`. */
  readonly lists: boolean;
}

/**
 * The form of a command. Total, and linear in its words.
 * `assignments`: names that a wrapper such as `env` may set; any other makes the form unknown.
 */
export function readForm(
  programs: Programs,
  command: PlainCommand,
  _assignments: ReadonlySet<string> = new Set(),
): CommandForm {
  const [program = "", ...operands] = command.words;
  const known = programs.has(program);
  return {
    program,
    path: [program],
    options: [],
    operands,
    paths: [],
    does: "unknown",
    problem: `the program ${program} ${known ? "has no table yet" : "is not known"}`,
    inner: null,
    fed: false,
    lists: false,
  };
}
