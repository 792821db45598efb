/**
 * The parts of a call, which are judged one by one: commands with their paths, statements,
 * requests.
 */
import { type Does, isReading, type Programs } from "../programs/program.ts";
import { BLANK_FORM, type CommandForm, readCommand } from "../programs/read-command.ts";
import type { PathUse } from "../programs/word-reader.ts";
import type { ParsedLine, PlainCommand } from "../shell/plain-line.ts";
import type { Position, Positions } from "./position.ts";

/** A command of a line. Directories are relative to the line's start: `.` is the workspace. */
export interface CommandPart {
  readonly kind: "command";
  readonly does: Does | "unknown";
  readonly form: CommandForm;
  readonly words: readonly string[];
  readonly directory: string;
  /**
   * Whether the program has a table: then its options and paths are understood unless
   * `form.problem` says otherwise.
   */
  readonly hasTable: boolean;
  /** Positions of the paths of `form`. */
  readonly visits: readonly Visit[];
  /** What the gate cannot see of it, as a clause; else null. */
  readonly unseen: string | null;
}

/** What a rule is compared with. */
export type Part =
  | CommandPart
  | {
      readonly kind: "statement";
      readonly does: Does;
      readonly statement: string;
      readonly tables: readonly string[];
    }
  | {
      readonly kind: "request";
      readonly does: Does;
      readonly method: string;
      readonly host: string;
      readonly path: string;
    };

/** A path that a command names or may name. */
export interface Visit extends PathUse {
  readonly position: Position;
  readonly isSecret: boolean;
}

/** What a policy says about words and paths before any rule does. */
export interface Vocabulary {
  readonly programs: Programs;
  readonly positions: Positions;
  readonly assignments: ReadonlySet<string>;
}

/** For a plain line, a list of parts for each command: the command itself first. */
export function splitLine(
  { commands, joints }: Extract<ParsedLine, { kind: "plain" }>,
  vocabulary: Vocabulary,
): readonly (readonly CommandPart[])[] {
  const isPlainPipe = !joints.some((joint) => /[(){}]/.test(joint));
  const between = joints.filter((joint) => /^[|&;]/.test(joint));
  let before: CommandPart | null = null;
  return commands.map((command, at) => {
    const pipe = isPlainPipe && between[at - 1] === "|" ? before : null;
    const parts = splitCommand(command, vocabulary, pipe);
    before = parts[0] ?? null;
    return parts;
  });
}

const WRAPPERS_MAX = 8;

/**
 * The command, the command that a wrapper runs in it, and each redirected file as a command `<` or
 * `>`.
 */
function splitCommand(
  command: PlainCommand,
  vocabulary: Vocabulary,
  pipe: CommandPart | null,
): readonly CommandPart[] {
  const parts: CommandPart[] = [];
  let next: PlainCommand | null = command;
  let isFed = false;
  while (next !== null && parts.length < WRAPPERS_MAX) {
    const part = createPart(next, vocabulary);
    parts.push(isFed ? feed(part, pipe, vocabulary) : part);
    isFed ||= part.form.fed;
    next = part.form.inner;
  }
  const [first] = parts;
  if (next !== null && first !== undefined)
    parts.push({ ...first, unseen: "it is wrapped too often" });
  for (const { path, access } of command.redirections) {
    const program = access === "write" ? ">" : "<";
    if (path !== null)
      parts.push(
        createPathPart(program, { path, access }, command.directory, vocabulary.positions),
      );
  }
  return parts;
}

/** The program name of a file that a call names without a program. */
export const FILE = "(file)";

/** A command that only reads or writes one path. */
export function createPathPart(
  program: string,
  use: PathUse,
  directory: string,
  positions: Positions,
): CommandPart {
  const problem = use.path === "" ? "the path is empty" : null;
  const paths = { paths: [use], does: use.access, problem };
  const form: CommandForm = { ...BLANK_FORM, program, path: [program], ...paths };
  return addVisits(form, { words: [program, use.path], directory, hasTable: true }, positions);
}

function addVisits(
  form: CommandForm,
  command: Pick<CommandPart, "words" | "directory" | "hasTable">,
  positions: Positions,
): CommandPart {
  const visits = form.paths.map((use) => visit(use, command.directory, positions));
  const { words, directory, hasTable } = command;
  return {
    kind: "command",
    does: form.does,
    form,
    words,
    directory,
    hasTable,
    visits,
    unseen: null,
  };
}

function visit(use: PathUse, directory: string, positions: Positions): Visit {
  const { path, access } = use;
  const position = positions.classify(path, directory, access);
  return { path, access, position, isSecret: positions.isSecret(path, directory) };
}

function createPart(
  command: PlainCommand,
  { programs, assignments, positions }: Vocabulary,
): CommandPart {
  const { words, directory } = command;
  const [program, target = "~"] = words;
  // `cd` is a builtin: the parser of lines has checked its words.
  if (program === "cd") {
    return {
      ...createPathPart("cd", { path: target, access: "read" }, directory, positions),
      words,
    };
  }
  const form = readCommand(programs, command, assignments);
  const isPrinted = form.lists && isReading(form.does);
  // A command that works outside the workspace's root reads its directory, too.
  const here = directory === "." ? [] : [HERE];
  const paths = [...form.paths, ...(isPrinted ? [] : openedFiles(form)), ...here];
  const hasTable = programs.has(form.program);
  return addVisits({ ...form, paths }, { words, directory, hasTable }, positions);
}

const HERE = { path: ".", access: "read" } as const;

/** Names that a program searches for below its paths. */
function openedFiles({ globs, does }: CommandForm, access?: PathUse["access"]): PathUse[] {
  const names = globs.filter((glob) => !glob.startsWith("!"));
  const opened = access ?? (isReading(does) ? "read" : "write");
  return names.map((glob) => ({ path: glob.replace(/^\/+/, ""), access: opened }));
}

/**
 * Further operands come from a pipe: names that a program lists are below its own paths, others are
 * unknown.
 */
function feed(part: CommandPart, pipe: CommandPart | null, { positions }: Vocabulary): CommandPart {
  const { form } = part;
  const isListed = pipe?.form.lists === true && pipe.form.problem === null;
  if (!isListed || pipe.directory !== part.directory) {
    return { ...part, unseen: "what it is to work on comes from another program" };
  }
  const access = isReading(form.does) ? "read" : "write";
  const from = pipe.form.paths.length > 0 ? pipe.form.paths : [HERE];
  // The last word takes the place of the operands to come.
  const own = form.paths.at(-1)?.path === "*" ? form.paths.slice(0, -1) : form.paths;
  const listed = [
    ...from.map(({ path }) => ({ path, access }) as const),
    ...openedFiles(pipe.form, access),
  ];
  return addVisits({ ...form, paths: [...own, ...listed] }, part, positions);
}

/**
 * The paths that the command uses and, where its form is not understood, also those that its words
 * may name.
 */
export function guessVisits(part: CommandPart, positions: Positions): readonly Visit[] {
  if (part.form.problem === null) return part.visits;
  const guessed = part.words.slice(1).flatMap(pathsIn);
  const uses = guessed.map((path) => ({ path, access: "write" }) as const);
  return [...part.visits, ...uses.map((use) => visit(use, part.directory, positions))];
}

/** `--out=/etc/a`, `of=/dev/sda` and `host:/a` name paths, too. */
function pathsIn(word: string): readonly string[] {
  const last = /(?:^|[=:,@])((?:\/|~|\.\.(?:\/|$)).*)$/s.exec(word)?.[1];
  if (last !== undefined) return [last];
  return word.startsWith("-") || !/[/.]/.test(word) || word.includes("://") ? [] : [word];
}
