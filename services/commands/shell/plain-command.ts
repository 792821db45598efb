/** The words of a shell line: see `parseLine`. */

/** One command of a line, with every word as the program will see it. */
export interface PlainCommand {
  /** Literal after unquoting; the first is the program as written, `:` where there is none. */
  readonly words: readonly string[];
  /** Indices of words with an unquoted pattern (`*`, `?`, `[a-z]`), which keep their spelling. */
  readonly globs: ReadonlySet<number>;
  /** Words that the shell expands, in order, spelled so that they differ from literal ones. */
  readonly expansions: readonly string[];
  /** Assignments before the command; every name is one of the options' `assignments`. */
  readonly assignments: readonly { readonly name: string; readonly value: string }[];
  /** In the order of the line, here-documents and here-strings among them. */
  readonly redirections: readonly Redirection[];
  /** The directory for relative paths: `.` is the workspace, or `src`, `/tmp`, `~/x`. */
  readonly directory: string;
}

export interface Redirection {
  /**
   * One spelling for all that mean the same: `2>&1`, `1>/dev/null`, `0<in.txt`, `<<` and the text
   * that is read.
   */
  readonly text: string;
  /** The file; null where it is a descriptor (`2>&1`), `/dev/null` or a text. */
  readonly path: string | null;
  readonly access: "read" | "write";
}

/** A line as commands, or why it cannot be split into them. */
export type ParsedLine =
  | {
      readonly kind: "plain";
      /** In order. Empty where the line is blank. */
      readonly commands: readonly PlainCommand[];
      /** The operators between them, in order: `|`, `&&`, `||`, `;`, `!`, `(`, `)`, `{`, `}`. */
      readonly joints: readonly string[];
    }
  | { readonly kind: "unclear"; readonly reason: string };

export interface LineOptions {
  /** Names that a line may assign before a command. */
  readonly assignments: ReadonlySet<string>;
  /** The directory that the line starts in: `.` is the workspace. */
  readonly startDirectory: string;
}
