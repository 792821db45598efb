/**
 * What the gate understands of a shell line: plain commands whose words are literal, joined by
 * `|`, `&&`, `||`, `;` and groups. Everything else is unclear, with the reason.
 */
import { parseTree } from "./syntax-tree.ts";

/** One command of a line, with every word as the program will see it. */
export interface PlainCommand {
  /** Literal after unquoting; the first is the program as written. Never empty. */
  readonly words: readonly string[];
  /** Indices of words with an unquoted pattern (`*`, `?`, `[a-z]`), which stand as written. */
  readonly globs: ReadonlySet<number>;
  /** Words that the shell expands, in order, spelled so that they differ from literal ones. */
  readonly expansions: readonly string[];
  /** Assignments before the command; every name is one of the options' `assignments`. */
  readonly assignments: readonly { readonly name: string; readonly value: string }[];
  /** Files that are redirected to or from. Descriptors (`2>&1`, `>/dev/null`) are not listed. */
  readonly redirections: readonly Redirected[];
  /** Texts of here-documents and here-strings, which the command reads. */
  readonly inputs: readonly string[];
  /** Where relative paths are read from: `.` is the workspace, or `src`, `/tmp`, `~/x`. */
  readonly directory: string;
}

export interface Redirected {
  readonly path: string;
  readonly access: "read" | "write";
}

/** A line in words, or why it cannot be taken into words. */
export type ParsedLine =
  | {
      readonly kind: "plain";
      /** In order. None where the line is blank. */
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

/** Takes a line into plain commands. Never throws; its time is linear in the length. */
export function parseLine(text: string, options: LineOptions): ParsedLine {
  const tree = parseTree(text);
  if (tree.kind === "unclear") return tree;
  const [statement, further] = tree.script.commands;
  const command = statement?.command;
  if (command?.type !== "Command" || further !== undefined || statement?.background === true)
    return { kind: "unclear", reason: "the line is not one simple command" };
  const words = [command.name, ...command.suffix].map((word) =>
    word?.type === "Word" && word.parts === undefined && word.text === word.value
      ? word.value
      : null,
  );
  if (words.includes(null) || command.prefix.length > 0 || text.trim() !== words.join(" "))
    return { kind: "unclear", reason: "the line has words that are not literal" };
  const plain: PlainCommand = {
    words: words as readonly string[],
    globs: new Set(),
    expansions: [],
    assignments: [],
    redirections: [],
    inputs: [],
    directory: options.startDirectory,
  };
  return { kind: "plain", commands: [plain], joints: [] };
}
