/** The parts of a call that are judged one by one: commands with their paths, statements, requests. */

import type { Programs } from "../programs/program-spec.ts";
import { type CommandForm, readForm } from "../programs/read-form.ts";
import type { ParsedLine, PlainCommand, Redirected } from "../shell/plain-line.ts";
import type { Place, Places } from "./place.ts";

/** What a rule is held against. Directories are as a line has them: `.` is the workspace. */
export type Part =
  | {
      readonly kind: "command";
      readonly form: CommandForm;
      readonly words: readonly string[];
      readonly directory: string;
      /** The program has a table, so its options and paths are known unless `form.problem` says otherwise. */
      readonly hasTable: boolean;
      /** Of the paths of `form`. */
      readonly visited: readonly Visited[];
      /** What of it is not seen, as a clause; null: all is. */
      readonly unseen: string | null;
    }
  | {
      readonly kind: "statement";
      readonly statement: string;
      readonly tables: readonly string[];
      readonly does: string;
    }
  | {
      readonly kind: "request";
      readonly method: string;
      readonly host: string;
      readonly path: string;
      readonly does: string;
    };

export type CommandPart = Extract<Part, { kind: "command" }>;

/** A path that a command names or may name, where it lies, and whether it is a secret. */
export interface Visited {
  readonly path: string;
  readonly access: "read" | "write";
  readonly place: Place;
  readonly isSecret: boolean;
}

/** What a policy says of words and paths before any rule does. */
export interface Vocabulary {
  readonly programs: Programs;
  readonly places: Places;
  readonly assignments: ReadonlySet<string>;
}

/** Of a plain line, a list of parts for each command: the command itself first. */
export function partsOfLine(
  { commands, joints }: Extract<ParsedLine, { kind: "plain" }>,
  vocabulary: Vocabulary,
): readonly (readonly CommandPart[])[] {
  const isPlainPipe = !joints.some((joint) => /[(){}]/.test(joint));
  const between = joints.filter((joint) => /^[|&;]/.test(joint));
  let before: CommandPart | null = null;
  return commands.map((command, at) => {
    const pipe = isPlainPipe && between[at - 1] === "|" ? before : null;
    const parts = partsOf(command, vocabulary, pipe);
    before = parts[0] ?? null;
    return parts;
  });
}

const WRAPPERS_MAX = 8;

/** The command, what a wrapper runs in it, and each file that it redirects from or to as a command `<` or `>`. */
function partsOf(
  command: PlainCommand,
  vocabulary: Vocabulary,
  pipe: CommandPart | null,
): readonly CommandPart[] {
  const found: CommandPart[] = [];
  let next: PlainCommand | null = command;
  let fed = false;
  while (next !== null && found.length < WRAPPERS_MAX) {
    const part = partOf(next, vocabulary);
    found.push(fed ? fedBy(pipe, part, vocabulary) : part);
    fed ||= part.form.fed;
    next = part.form.inner;
  }
  const [first] = found;
  if (next !== null && first !== undefined)
    found.push({ ...first, unseen: "it is wrapped too often" });
  for (const one of command.redirections)
    found.push(
      fixedPart(one.access === "write" ? ">" : "<", one, command.directory, vocabulary.places),
    );
  return found;
}

/** The program of a file that a call names without one. */
export const FILE = "(file)";

/** A command that does nothing but read or write one path. */
export function fixedPart(
  program: string,
  { path, access }: Redirected,
  directory: string,
  places: Places,
): CommandPart {
  const form: CommandForm = {
    program,
    path: [program],
    options: [],
    operands: [],
    paths: [{ path, access }],
    does: access,
    problem: path === "" ? "the path is empty" : null,
    inner: null,
    fed: false,
    sendsToo: false,
    lists: false,
  };
  return commandPart(form, [program, path], directory, true, places);
}

function commandPart(
  form: CommandForm,
  words: readonly string[],
  directory: string,
  hasTable: boolean,
  places: Places,
): CommandPart {
  const visited = form.paths.map(({ path, access }) => visit(path, access, directory, places));
  return { kind: "command", form, words, directory, hasTable, visited, unseen: null };
}

function visit(path: string, access: "read" | "write", directory: string, places: Places): Visited {
  const place = places.placeOf(path, directory, access);
  return { path, access, place, isSecret: places.isSecret(path, directory) };
}

/** A command that works in another directory than the workspace reads that, too. */
function partOf(command: PlainCommand, { programs, assignments, places }: Vocabulary): CommandPart {
  const { words, directory } = command;
  const [program, target = "~"] = words;
  // The shell itself moves; the parser of lines has seen to its words.
  if (program === "cd") {
    return { ...fixedPart("cd", { path: target, access: "read" }, directory, places), words };
  }
  const read = readForm(programs, command, assignments);
  const form = directory === "." ? read : { ...read, paths: [...read.paths, HERE] };
  return commandPart(form, words, directory, programs.has(read.program), places);
}

const HERE = { path: ".", access: "read" } as const;

export const READS: ReadonlySet<string> = new Set(["read", "watch"]);

/** Further operands come from a pipe: those that a program lists are below its own paths, others are not seen. */
function fedBy(pipe: CommandPart | null, part: CommandPart, { places }: Vocabulary): CommandPart {
  const { form, words, directory, hasTable } = part;
  const isListed = pipe?.form.lists === true && pipe.form.problem === null;
  if (!isListed || pipe.directory !== directory) {
    return { ...part, unseen: "what it is to work on comes from another program" };
  }
  const access = READS.has(form.does) ? "read" : "write";
  const from = pipe.form.paths.length > 0 ? pipe.form.paths : [HERE];
  // The last word stands for what comes.
  const own = form.paths.at(-1)?.path === "*" ? form.paths.slice(0, -1) : form.paths;
  const paths = [...own, ...from.map(({ path }) => ({ path, access }) as const)];
  return commandPart({ ...form, paths }, words, directory, hasTable, places);
}

/** What the command visits and, where its form is not known, also what its words may name. */
export function mayVisit(part: CommandPart, places: Places): readonly Visited[] {
  if (part.form.problem === null) return part.visited;
  const guessed = part.words.slice(1).flatMap(pathsIn);
  return [...part.visited, ...guessed.map((path) => visit(path, "write", part.directory, places))];
}

/** `--out=/etc/a`, `of=/dev/sda` and `host:/a` name paths, too. */
function pathsIn(word: string): readonly string[] {
  const last = /(?:^|[=:,@])((?:\/|~|\.\.(?:\/|$)).*)$/s.exec(word)?.[1];
  if (last !== undefined) return [last];
  return word.startsWith("-") || !/[/.]/.test(word) || word.includes("://") ? [] : [word];
}
