/** Reads what one plain command does, by the tables of programs. */
import type { PlainCommand } from "../shell/plain-line.ts";
import {
  type Does,
  type Form,
  isReading,
  type Program,
  type ProgramNode,
  type Programs,
} from "./program.ts";
import { type PathUse, WordReader } from "./word-reader.ts";

export interface CommandForm {
  /**
   * Without its directory (`/usr/bin/git` is `git`); a script of the workspace begins with `./`.
   */
  readonly program: string;
  /** The program and its subcommands, even where the rest is not understood: `["git", "push"]`. */
  readonly path: readonly string[];
  /** Options by their canonical names, one entry for each value, in the order of the line. */
  readonly options: readonly { readonly name: string; readonly value: string | null }[];
  /** Operands without the words of `inner`. */
  readonly operands: readonly string[];
  /**
   * Relative to the command's `directory`, which is not listed itself. A path with `*`, `?` or `[`
   * stands for every name that it matches.
   */
  readonly paths: readonly PathUse[];
  /** Names of the files that the command opens or, where it `lists`, prints below `paths`. */
  readonly globs: readonly string[];
  /** `inner` does not count here: a caller takes the stricter of both. */
  readonly does: Does | "unknown";
  /** Why the form is unknown, as one clause for people; else null. */
  readonly problem: string | null;
  /** The command that a transparent wrapper (`timeout 5 ls`) runs; it has a form of its own. */
  readonly inner: PlainCommand | null;
  /**
   * Whether `inner` gets further operands from standard input, as with `xargs`: they may name
   * anything. Its last word is then a `*` in their place.
   */
  readonly fed: boolean;
  /**
   * Whether an option or a path reaches another machine, although other forms of these words do
   * not.
   */
  readonly sendsToo: boolean;
  /**
   * Whether the output consists only of names of files below `paths` (or `directory`), as for
   * `find`.
   */
  readonly lists: boolean;
}

/** The form of a program without a table: no options and operands are read. */
export const BLANK_FORM: CommandForm = {
  program: "",
  path: [],
  options: [],
  operands: [],
  paths: [],
  globs: [],
  does: "unknown",
  problem: null,
  inner: null,
  fed: false,
  sendsToo: false,
  lists: false,
};

const SYSTEM_DIRECTORY = /^\/(?:usr\/)?bin\/(?=[^/]+$)/;
const NONE: ReadonlySet<string> = new Set();
/** As the only word after a program that has a table, these print something and do nothing else. */
const HELP: ReadonlySet<string> = new Set(["--help", "--version"]);
const UP_TO_OPERAND = { limit: 0, assignments: false };

/** The state that all attempts to read a command as one form share. */
interface Attempt {
  readonly command: PlainCommand;
  readonly program: Program;
  readonly node: ProgramNode;
  /** The program and its subcommands. */
  readonly path: readonly string[];
  /** Index of the first word after them. */
  readonly start: number;
  readonly before: WordReader | undefined;
}

/**
 * Reads the form of a command. Total, and linear in its words. `assignments`: names that a wrapper
 * such as `env` may set; any other makes the form unknown.
 */
export function readCommand(
  programs: Programs,
  command: PlainCommand,
  assignments: ReadonlySet<string> = NONE,
): CommandForm {
  const { words, globs } = command;
  const [written = "", only = ""] = words;
  const program = programs.get(written.replace(SYSTEM_DIRECTORY, ""));
  if (program === undefined || globs.has(0)) return readUnknownProgram(command);
  const { name } = program;
  if (HELP.has(only) && words.length === 2) {
    const options = [{ name: only, value: null }];
    return { ...BLANK_FORM, program: name, path: [name], options, does: "read" };
  }
  const start = { command, program, node: program, path: [name], start: 1, before: undefined };
  const attempt = readSubcommands(start);
  if ("does" in attempt) return attempt;
  let form = BLANK_FORM;
  for (const candidate of attempt.node.forms) {
    form = readForm(attempt, candidate, assignments);
    if (form.problem === null) break;
  }
  return form;
}

/** Descends to the last subcommand that the table has; returns a form where one is missing. */
function readSubcommands(attempt: Attempt): Attempt | CommandForm {
  const { command, program, node, path, start, before } = attempt;
  if (node.subcommands.size === 0) return attempt;
  const reader = new WordReader(command, program, node.tables, before);
  const at = reader.scan(start, UP_TO_OPERAND);
  const word = command.words[at];
  const child = node.subcommands.get(word ?? "");
  if (child !== undefined) {
    const next = { node: child.node, path: [...path, child.name], start: at + 1, before: reader };
    return readSubcommands({ command, program, ...next });
  }
  if (node.forms.length > 0) return attempt;
  const { options, paths } = reader;
  const missing = word === undefined ? "a subcommand is needed" : `${word} is not known`;
  const problem = `${path.join(" ")}: ${reader.problem ?? missing}`;
  const operands = command.words.slice(at);
  return { ...BLANK_FORM, program: program.name, path, options, operands, paths, problem };
}

function readUnknownProgram({ words }: PlainCommand): CommandForm {
  const [written = "", ...operands] = words;
  const isScript = written.includes("/") && !/^[/~]/.test(written);
  const program = isScript ? `./${written.replace(/^(?:\.\/)+/, "")}` : written;
  const problem = isScript
    ? `${program} is a program of the workspace`
    : `the program ${program} is not known`;
  return { ...BLANK_FORM, program, path: [program], operands, problem };
}

function readForm(
  { command, program, path, start, before }: Attempt,
  form: Form,
  assignments: ReadonlySet<string>,
): CommandForm {
  const reader = new WordReader(command, program, form.tables, before);
  const end = reader.scan(start, form);
  const inner = form.command === null ? null : takeInner(command, end, form.command.kind, reader);
  if (form.command === null)
    for (const word of command.words.slice(end)) reader.operands.push(word);
  reader.fitOperands(form, inner !== null);
  const { needs } = form;
  if (needs !== null && !reader.options.some(({ name }) => needs.has(name)))
    reader.fail(`${[...needs].join(" or ")} is needed`);
  const foreign = reader.assignments.find(({ name }) => !assignments.has(name));
  if (foreign !== undefined) reader.fail(`${foreign.name} may not be set`);
  const does = reader.judge(form.does);
  return {
    program: program.name,
    path,
    options: reader.options,
    operands: reader.operands,
    paths: locatePaths(reader, does),
    globs: reader.globs,
    does,
    problem: reader.problem === null ? null : `${path.join(" ")}: ${reader.problem}`,
    inner,
    fed: inner !== null && form.command?.kind === "fed-command",
    sendsToo: does === "send" && form.does !== "send",
    lists: form.lists,
  };
}

/** The command that begins at `end`, with the assignments that a wrapper makes for it. */
function takeInner(
  command: PlainCommand,
  end: number,
  kind: string,
  { assignments }: WordReader,
): PlainCommand | null {
  if (end >= command.words.length) return null;
  const words = command.words.slice(end);
  const globs = new Set([...command.globs].map((at) => at - end).filter((at) => at >= 0));
  if (kind === "fed-command") globs.add(words.push("*") - 1);
  return { ...command, words, globs, assignments, redirections: [] };
}

/** The paths as the shell would resolve them: below the directory that an option names. */
function locatePaths(
  { paths, directories }: WordReader,
  does: Does | "unknown",
): CommandForm["paths"] {
  if (directories.length === 0) return paths;
  const join = (directory: string, path: string): string =>
    /^[/~]/.test(path) ? path : `${directory}/${path}`;
  const directory = directories.reduce(join);
  const access = isReading(does) ? "read" : "write";
  const located = paths.map((one) => ({ ...one, path: join(directory, one.path) }));
  return [{ path: directory, access }, ...located];
}
