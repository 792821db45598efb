/**
 * What becomes of a call: one verdict for each command of a line, file that it redirects to, statement or request.
 * The call is as strict as the strictest of them. What is not understood matches nothing that allows.
 */
import type { Programs } from "../programs/program-spec.ts";
import { type CommandForm, readForm } from "../programs/read-form.ts";
import type { ParsedLine, PlainCommand, Redirected } from "../shell/plain-line.ts";
import type { Places } from "./place.ts";
import {
  type CommandPart,
  isFree,
  type Part,
  type RuleTest,
  type Visited,
  visitedBy,
} from "./rule.ts";

/** Of a repeat: `read` is answered from memory, `watch` and `run` run again, `write` is a duplicate. */
export type Deed = "read" | "watch" | "run" | "write";

export interface Verdict {
  /** The part, for people. */
  readonly text: string;
  readonly does: Deed;
  /** Number of the rule that decides; `known`: none, but what it does is known; `unclear`: nothing. */
  readonly by: number | "known" | "unclear";
  /** Why it is unclear, as a clause: `the option --x of git status is not known`. */
  readonly reason: string | null;
}

export interface Rules {
  readonly rules: readonly { readonly fits: RuleTest; readonly isStrict: boolean }[];
  readonly programs: Programs;
  readonly places: Places;
  readonly assignments: ReadonlySet<string>;
  /** Lines share one shell: whoever moves its directory changes what later lines mean. */
  readonly isSession: boolean;
}

/** A verdict on what could not be read at all. */
export function unclear(text: string, reason: string): Verdict {
  return { text: cut(text), does: "write", by: "unclear", reason };
}

const TEXT_MAX = 120;

function cut(text: string): string {
  return text.length > TEXT_MAX ? `${text.slice(0, TEXT_MAX)}…` : text;
}

export function judgeLine(line: ParsedLine, text: string, rules: Rules): readonly Verdict[] {
  if (line.kind === "unclear") return [unclear(text, line.reason)];
  const isPlainPipe = !line.joints.some((joint) => /[(){}]/.test(joint));
  const between = line.joints.filter((joint) => /^[|&;]/.test(joint));
  let before: CommandPart | null = null;
  return line.commands.flatMap((command, at) => {
    const pipe = isPlainPipe && between[at - 1] === "|" ? before : null;
    const parts = partsOf(command, rules, pipe);
    before = parts[0] ?? null;
    return parts.flatMap((part) => judgePart(part, rules));
  });
}

/** The command, what a wrapper runs in it, and each file that it redirects from or to as a command `<` or `>`. */
function partsOf(
  command: PlainCommand,
  rules: Rules,
  pipe: CommandPart | null,
): readonly CommandPart[] {
  const found: CommandPart[] = [];
  let next: PlainCommand | null = command;
  let fed = false;
  while (next !== null && found.length < WRAPPERS_MAX) {
    const part = partOf(next, rules);
    found.push(fed ? fedBy(pipe, part) : part);
    fed ||= part.form.fed;
    next = part.form.inner;
  }
  const [first] = found;
  if (next !== null && first !== undefined)
    found.push({ ...first, unseen: "it is wrapped too often" });
  const files = command.redirections.map((one) =>
    fixedPart(one.access === "write" ? ">" : "<", one, command.directory),
  );
  return [...found, ...files];
}

/** A command that does nothing but read or write one path. */
export function fixedPart(
  program: string,
  { path, access }: Redirected,
  directory: string,
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
    lists: false,
  };
  return { kind: "command", form, words: [program, path], directory, hasTable: true };
}

const WRAPPERS_MAX = 8;

/** A command that works in another directory than the workspace reads that, too. */
function partOf(command: PlainCommand, { programs, assignments }: Rules): CommandPart {
  const { words, directory } = command;
  const [program, target = "~"] = words;
  // The shell itself moves; the parser of lines has seen to its words.
  if (program === "cd") {
    return { ...fixedPart("cd", { path: target, access: "read" }, directory), words };
  }
  const read = readForm(programs, command, assignments);
  const form = directory === "." ? read : { ...read, paths: [...read.paths, HERE] };
  return { kind: "command", form, words, directory, hasTable: programs.has(read.program) };
}

const HERE = { path: ".", access: "read" } as const;

/** Further operands come from a pipe: those that a program lists are below its own paths, others are not seen. */
function fedBy(pipe: CommandPart | null, part: CommandPart): CommandPart {
  const { form, directory } = part;
  const isListed = pipe?.form.lists === true && pipe.form.problem === null;
  if (!isListed || pipe.directory !== directory) {
    return { ...part, unseen: "what it is to work on comes from another program" };
  }
  const access = READS.has(form.does) ? "read" : "write";
  const from = pipe.form.paths.length > 0 ? pipe.form.paths : [HERE];
  // The last word stands for what comes.
  const own = form.paths.at(-1)?.path === "*" ? form.paths.slice(0, -1) : form.paths;
  const paths = [...own, ...from.map(({ path }) => ({ path, access }) as const)];
  return { ...part, form: { ...form, paths } };
}

/** The verdict of the first rule that is about it. What is not wholly understood is unclear beside that. */
export function judgePart(
  part: Part & { readonly unseen?: string },
  rules: Rules,
): readonly Verdict[] {
  const text = textOf(part);
  const isUnseen = part.unseen !== undefined;
  const by = rules.rules.findIndex(
    ({ fits, isStrict }) => (isStrict || !isUnseen) && fits(part, isStrict),
  );
  const does = deedOf(part, rules);
  const unknown =
    part.unseen ?? (part.kind === "command" && part.hasTable ? part.form.problem : null);
  const ruled: readonly Verdict[] = by < 0 ? [] : [{ text, does, by, reason: null }];
  if (by >= 0 && unknown === null) return ruled;
  const reason = unknown ?? (part.kind === "command" ? problemOf(part, rules.places) : null);
  const isRead = READS.has(doesOf(part));
  if (reason !== null) return [...ruled, { text, does, by: "unclear", reason }];
  const isKnown = isRead || rules.rules.length === 0 || isFile(part);
  return [
    { text, does, by: isKnown ? "known" : "unclear", reason: isKnown ? null : whyNotKnown(part) },
  ];
}

/** Of a tool for files that no rule names: the tool's own entry says what becomes of it. */
function isFile(part: Part): boolean {
  return part.kind === "command" && part.form.program === FILE;
}

export const FILE = "(file)";

function whyNotKnown(part: Part): string {
  return doesOf(part) === "send" ? "it leaves the machine" : "no rule names it";
}

const READS: ReadonlySet<string> = new Set(["read", "watch"]);

/** Why a command is not free, whatever it does; null: nothing speaks against it. */
function problemOf(part: CommandPart, places: Places): string | null {
  if (part.form.problem !== null) return part.form.problem;
  const odd = visitedBy(part, places, false).find(
    (one) => one.isSecret || !isFree(one.place, part),
  );
  return odd === undefined ? null : `${odd.path} ${whyNot(odd)}`;
}

function whyNot({ path, access, isSecret, place }: Visited): string {
  if (isSecret) return "is a secret";
  if (access === "write" && /(?:^|\/)\.git(?:\/|$)/.test(path))
    return "is read by git, which runs what it names";
  return place === "root_or_home"
    ? "belongs to the system or a home directory"
    : "lies outside of the workspace";
}

function doesOf(part: Part): string {
  return part.kind === "command" ? part.form.does : part.does;
}

function deedOf(part: Part, { isSession }: Rules): Deed {
  const does = doesOf(part);
  if (does === "read" && isSession && part.kind === "command" && part.form.program === "cd")
    return "run";
  if (does === "read" || does === "watch" || does === "run") return does;
  // Nobody knows what a program without a table acts on, so that its repeat is no second write of the same thing.
  return does === "unknown" && part.kind === "command" && !part.hasTable ? "run" : "write";
}

function textOf(part: Part): string {
  const whole =
    part.kind === "command"
      ? part.words.join(" ")
      : part.kind === "statement"
        ? [part.statement, ...part.tables].join(" ")
        : `${part.method} ${part.host}${part.path}`;
  return cut(whole);
}
