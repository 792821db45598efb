/** Reads what one plain command does from the tables of programs. */
import type { PlainCommand } from "../shell/plain-line.ts";
import { fitOperands } from "./fit-operands.ts";
import type { Does, Form, Program, ProgramNode, Programs } from "./program-spec.ts";
import { judgeReading, type Reading, startReading } from "./reading.ts";
import { type Scan, scanOptions } from "./scan-options.ts";

export interface CommandForm {
  /** Without its directory (`/usr/bin/git` is `git`); a script of the workspace begins with `./`. */
  readonly program: string;
  /** The program and its subcommands, also where the rest is not known: `["git", "push"]`. */
  readonly path: readonly string[];
  /** Under their canonical names, one entry for each value, in the order of the line. */
  readonly options: readonly { readonly name: string; readonly value: string | null }[];
  /** Without the words of `inner`. */
  readonly operands: readonly string[];
  /**
   * Relative to the command's `directory`, which is not listed itself. A path with `*`, `?` or `[`
   * stands for every name that fits it.
   */
  readonly paths: readonly { readonly path: string; readonly access: "read" | "write" }[];
  /** `inner` is not part of it: such a line is as strict as the strictest of both. */
  readonly does: Does | "unknown";
  /** Why it is unknown, as one clause for people; null where it is known. */
  readonly problem: string | null;
  /** The command that a transparent wrapper (`timeout 5 ls`) runs; a form of its own. */
  readonly inner: PlainCommand | null;
  /**
   * `inner` gets further operands from standard input, as with `xargs`: they may name anything. Its
   * last word is a `*` in their place.
   */
  readonly fed: boolean;
  /** It leaves the machine by an option or a path, where other forms of its words do not. */
  readonly sendsToo: boolean;
  /** The output is nothing but names of files below `paths` (or `directory`), as of `find`. */
  readonly lists: boolean;
}

const SYSTEM_DIRECTORY = /^\/(?:usr\/)?bin\/(?=[^/]+$)/;
const NONE: ReadonlySet<string> = new Set();
/** Alone behind a known program, they print and do nothing else. */
const HELP: ReadonlySet<string> = new Set(["--help", "--version"]);

/**
 * The form of a command. Total, and linear in its words.
 * `assignments`: names that a wrapper such as `env` may set; any other makes the form unknown.
 */
export function readForm(
  programs: Programs,
  command: PlainCommand,
  assignments: ReadonlySet<string> = NONE,
): CommandForm {
  const written = command.words[0] ?? "";
  const program = programs.get(written.replace(SYSTEM_DIRECTORY, ""));
  if (program === undefined || command.globs.has(0)) return unknownProgram(command);
  const [, only = ""] = command.words;
  if (HELP.has(only) && command.words.length === 2) return helpForm(program, only);
  const walk = { command, program, assignments };
  return readNode(walk, program, { path: [program.name], start: 1, found: undefined });
}

function unknownProgram({ words }: PlainCommand): CommandForm {
  const written = words[0] ?? "";
  const isScript = written.includes("/") && !/^[/~]/.test(written);
  const program = isScript ? `./${written.replace(/^(?:\.\/)+/, "")}` : written;
  const problem = isScript
    ? `${program} is a program of the workspace`
    : `the program ${program} is not known`;
  return { ...NOTHING, program, path: [program], operands: words.slice(1), problem };
}

const NOTHING: CommandForm = {
  program: "",
  path: [],
  options: [],
  operands: [],
  paths: [],
  does: "unknown",
  problem: null,
  inner: null,
  fed: false,
  sendsToo: false,
  lists: false,
};

function helpForm({ name }: Program, option: string): CommandForm {
  const options = [{ name: option, value: null }];
  return { ...NOTHING, program: name, path: [name], options, does: "read" };
}

interface Walk {
  readonly command: PlainCommand;
  readonly program: Program;
  readonly assignments: ReadonlySet<string>;
}

/** How far the words of a command have been read. */
interface Position {
  readonly path: readonly string[];
  readonly start: number;
  readonly found: Reading | undefined;
}

const FIRST_OPERAND = { limit: 0, assignments: false };

function scanOf({ command, program }: Walk, tables: Scan["tables"], reading: Reading): Scan {
  return { words: command.words, globs: command.globs, program, tables, reading };
}

function readNode(walk: Walk, node: ProgramNode, position: Position): CommandForm {
  const { command } = walk;
  if (node.subcommands.size > 0) {
    const found = startReading(position.found);
    const at = scanOptions(scanOf(walk, node.tables, found), position.start, FIRST_OPERAND);
    const child = node.subcommands.get(command.words[at] ?? "");
    if (child !== undefined) {
      const path = [...position.path, child.name];
      return readNode(walk, child.node, { path, start: at + 1, found });
    }
    if (node.forms.length === 0) return unknownSubcommand(walk, position, found, at);
  }
  let form = NOTHING;
  for (const candidate of node.forms) {
    form = readCandidate(walk, candidate, position);
    if (form.problem === null) break;
  }
  return form;
}

function unknownSubcommand(
  { command, program }: Walk,
  { path }: Position,
  { options, paths, problem }: Reading,
  at: number,
): CommandForm {
  const operands = command.words.slice(at);
  const missing = operands.length === 0 ? "a subcommand is needed" : `${operands[0]} is not known`;
  const form = { ...NOTHING, program: program.name, path, options, operands, paths };
  return { ...form, problem: `${path.join(" ")}: ${problem ?? missing}` };
}

function readCandidate(walk: Walk, form: Form, position: Position): CommandForm {
  const { program } = walk;
  const reading = startReading(position.found);
  const end = scanOptions(scanOf(walk, form.tables, reading), position.start, form.shape);
  const inner = innerCommand(walk, form, reading, end);
  const name = position.path.join(" ");
  reading.problem ??= fitOperands(form.shape, reading, program, inner !== null);
  if (form.needs !== null && !reading.options.some((option) => form.needs?.has(option.name))) {
    reading.problem ??= `${[...form.needs].join(" or ")} is needed`;
  }
  const foreign = reading.assignments.find((one) => !walk.assignments.has(one.name));
  if (foreign !== undefined) reading.problem ??= `${foreign.name} may not be set`;
  const does = judgeReading(reading, form.does);
  return {
    program: program.name,
    path: position.path,
    options: reading.options,
    operands: reading.operands,
    paths: placePaths(reading, does),
    does,
    problem: reading.problem === null ? null : `${name}: ${reading.problem}`,
    inner,
    fed: inner !== null && form.shape.command?.kind === "fed-command",
    sendsToo: does === "send" && form.does !== "send",
    lists: form.lists,
  };
}

/** The command after the operands; words of `rest` are added to the operands. */
function innerCommand(
  { command }: Walk,
  form: Form,
  reading: Reading,
  end: number,
): PlainCommand | null {
  if (end >= command.words.length) return null;
  const words = command.words.slice(end);
  const kind = form.shape.command?.kind;
  if (kind === undefined) {
    for (const word of words) reading.operands.push(word);
    return null;
  }
  const globs = new Set([...command.globs].map((at) => at - end).filter((at) => at >= 0));
  if (kind === "fed-command") globs.add(words.push("*") - 1);
  const { assignments } = reading;
  return { ...command, words, globs, assignments, redirections: [], inputs: [] };
}

/** Paths as the shell would see them: below the directory that an option names. */
function placePaths(reading: Reading, does: Does | "unknown"): CommandForm["paths"] {
  if (reading.directories.length === 0) return reading.paths;
  const directory = reading.directories.reduce(joinPaths);
  const access = does === "read" || does === "watch" ? "read" : "write";
  const paths = reading.paths.map((one) => ({ ...one, path: joinPaths(directory, one.path) }));
  return [{ path: directory, access }, ...paths];
}

const joinPaths = (directory: string, path: string): string =>
  /^[/~]/.test(path) ? path : `${directory}/${path}`;
