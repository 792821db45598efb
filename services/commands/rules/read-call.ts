/**
 * Splits the arguments of a call into parts, and derives the text that makes two calls the same.
 */
import { readRequest, requestParts } from "../http/read-request.ts";
import { identifyLine } from "../shell/line-identity.ts";
import { type ParsedLine, type PlainCommand, parseLine } from "../shell/plain-line.ts";
import { readSql } from "../sql/read-sql.ts";
import {
  type CommandPart,
  createPathPart,
  FILE,
  type Part,
  splitLine,
  type Vocabulary,
} from "./part.ts";

/** One call, read once: the gate judges, compares and explains it by this. */
export interface ReadCall {
  readonly parts: readonly Part[];
  /** A part of the call that could not be read at all; null: there is none. */
  readonly unread: { readonly text: string; readonly reason: string } | null;
  /** The text that calls are compared by; null: the argument's own text. */
  readonly identity: string | null;
}

/**
 * `value`: the argument; `args`: all arguments. Total. The reader remembers the latest texts, so
 * that a call is read once for its judgement and its comparison, and a repeated line is not read
 * again.
 */
export type CallReader = (value: unknown, args: Readonly<Record<string, unknown>>) => ReadCall;

export interface ReaderSettings {
  readonly language: "shell" | "git" | "sql" | "http" | "files";
  /** The argument that is read. */
  readonly argument: string;
  /** Of `sql`: further functions that change nothing, in lower case. */
  readonly functions: ReadonlySet<string>;
  /** Of `files`: what the tool does to them. */
  readonly access: "read" | "write";
}

export function createReader(settings: ReaderSettings, vocabulary: Vocabulary): CallReader {
  const { language, argument, functions, access } = settings;
  if (language === "files") return (value) => readFiles(value, access, vocabulary);
  if (language === "http") return (value, args) => readHttp(value, requestParts(args, argument));
  const read =
    language === "sql"
      ? (text: string): ReadCall => readStatements(text, functions)
      : (text: string): ReadCall => readLine(text, language, vocabulary);
  const readOnce = rememberReadings(read);
  return (value) => {
    if (typeof value === "string") return readOnce(value);
    if (language === "sql" || !isWords(value)) return createUnread(language, NO_TEXT);
    return { ...readPlain(createLine(value, language), vocabulary), identity: null };
  };
}

/** UTF-16 units of the texts whose readings are remembered. */
const REMEMBERED = 262_144;
/**
 * The size that a remembered text counts for beside its length: about that of its reading. With
 * more of them garbage collections became slow.
 */
const ENTRY = 4_096;

function rememberReadings(read: (text: string) => ReadCall): (text: string) => ReadCall {
  const readings = new Map<string, ReadCall>();
  let units = 0;
  return (text) => {
    const before = readings.get(text);
    if (before !== undefined) return before;
    units += text.length + ENTRY;
    if (units > REMEMBERED) {
      readings.clear();
      units = text.length + ENTRY;
    }
    const call = read(text);
    readings.set(text, call);
    return call;
  };
}

const NO_TEXT = "the argument is no text";

function createUnread(text: string, reason: string, identity: string | null = null): ReadCall {
  return { parts: [], unread: { text, reason }, identity };
}

function readStatements(text: string, functions: ReadonlySet<string>): ReadCall {
  const read = readSql(text, functions);
  if (read.kind === "unclear") return createUnread("sql", read.reason, text.trim());
  const parts = read.statements.map((one) => ({ kind: "statement", ...one }) as const);
  return { parts, unread: null, identity: read.identity };
}

function readHttp(value: unknown, request: ReturnType<typeof requestParts>): ReadCall {
  if (typeof value !== "string") return createUnread("request", NO_TEXT);
  const read = readRequest(request);
  if (read.kind === "unclear") return createUnread("request", read.reason);
  return { parts: [read], unread: null, identity: null };
}

function readFiles(value: unknown, access: "read" | "write", { positions }: Vocabulary): ReadCall {
  const paths: readonly unknown[] = isWords(value) ? value : [value];
  const parts = paths.flatMap((path) =>
    typeof path === "string" ? [createPathPart(FILE, { path, access }, ".", positions)] : [],
  );
  const isRead = parts.length === paths.length;
  return { parts, unread: isRead ? null : { text: "path", reason: NO_TEXT }, identity: null };
}

function readLine(text: string, language: "shell" | "git", vocabulary: Vocabulary): ReadCall {
  const parsed = parseLine(text, { assignments: vocabulary.assignments, startDirectory: "." });
  const line = language === "git" && parsed.kind === "plain" ? gitLine(parsed) : parsed;
  if (line.kind === "unclear") return createUnread(text, line.reason, identifyLine(text, line, []));
  return readPlain(line, vocabulary, text);
}

type PlainLine = Extract<ParsedLine, { kind: "plain" }>;

function readPlain(line: PlainLine, vocabulary: Vocabulary, text = ""): ReadCall {
  const parts = splitLine(line, vocabulary);
  const identity = identifyLine(text, line, parts.map(spellCanonically));
  return { parts: parts.flat(), unread: null, identity };
}

/**
 * One spelling for each option; `./a` is `a`. The order stays: a later option may override an
 * earlier one.
 */
function spellCanonically([part]: readonly CommandPart[]): readonly string[] | null {
  if (part === undefined || part.words[0] === "cd") return null;
  const { problem, inner, path, options, operands } = part.form;
  if (problem !== null || inner !== null) return null;
  const spelled = options.map(({ name, value }) => (value === null ? name : `${name}=${value}`));
  return [...path, ...spelled, "", ...operands.map((one) => one.replace(/^(?:\.\/+)+(?=.)/, ""))];
}

function isWords(value: unknown): value is readonly string[] {
  return (
    Array.isArray(value) && value.length > 0 && value.every((word) => typeof word === "string")
  );
}

/** One command, with or without the word `git`. */
function gitLine(line: PlainLine): ParsedLine {
  const [command, more] = line.commands;
  if (
    command === undefined ||
    more !== undefined ||
    command.redirections.some(({ path }) => path !== null)
  ) {
    return { kind: "unclear", reason: "it is not one git command" };
  }
  return { ...line, commands: [{ ...command, ...asGit(command) }] };
}

function asGit({ words, globs }: PlainCommand): Pick<PlainCommand, "words" | "globs"> {
  if (words[0] === "git") return { words, globs };
  return { words: ["git", ...words], globs: new Set([...globs].map((at) => at + 1)) };
}

/** Words that were given as a list, without a shell. */
function createLine(words: readonly string[], language: "shell" | "git"): PlainLine {
  const command: PlainCommand = {
    words,
    globs: new Set(),
    expansions: [],
    assignments: [],
    redirections: [],
    directory: ".",
  };
  const read = language === "git" ? { ...command, ...asGit(command) } : command;
  return { kind: "plain", commands: [read], joints: [] };
}
