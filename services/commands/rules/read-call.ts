/** From the arguments of a call to verdicts, and to the text that makes two calls the same. */
import { readRequest, requestParts } from "../http/read-request.ts";
import { readForm } from "../programs/read-form.ts";
import { identifyLine } from "../shell/line-identity.ts";
import { type ParsedLine, type PlainCommand, parseLine } from "../shell/plain-line.ts";
import { readSql } from "../sql/read-sql.ts";
import {
  FILE,
  fixedPart,
  judgeLine,
  judgePart,
  type Rules,
  unclear,
  type Verdict,
} from "./judge.ts";

export interface CallReader {
  /** The argument that is read where the policy names none. */
  readonly argument: string;
  /** `value`: of the argument; `args`: all of them. Total. None: an empty line, which does nothing. */
  readonly judge: (value: unknown, args: Readonly<Record<string, unknown>>) => readonly Verdict[];
  /** What stands for a text where calls are compared; null: the text itself. */
  readonly identity: ((text: string) => string) | null;
}

export interface ReaderSettings {
  readonly language: "shell" | "git" | "sql" | "http" | "files";
  readonly argument: string | undefined;
  /** Of `sql`: further functions that change nothing, in lower case. */
  readonly functions: ReadonlySet<string>;
  /** Of `files`: what the tool does to them. */
  readonly access: "read" | "write";
}

export function createReader(settings: ReaderSettings, rules: Rules): CallReader {
  const { language, functions, access } = settings;
  switch (language) {
    case "shell":
    case "git": {
      // A call is judged and identified, one after the other.
      let last: { readonly text: string; readonly line: ParsedLine } | null = null;
      const read = (text: string): ParsedLine => {
        if (last?.text === text) return last.line;
        const line = language === "git" ? gitLine(text, rules) : shellLine(text, rules);
        last = { text, line };
        return line;
      };
      return {
        argument: settings.argument ?? "command",
        judge: (value) => {
          const line = isWords(value)
            ? wordsLine(value, language)
            : typeof value === "string"
              ? read(value)
              : null;
          if (line === null) return [unclear(language, "the argument is no text")];
          return judgeLine(line, typeof value === "string" ? value : "", rules);
        },
        identity: (text) =>
          identifyLine(text, read(text), (command) => canonicalWords(command, rules)),
      };
    }
    case "sql":
      return {
        argument: settings.argument ?? "query",
        judge: (value) => {
          const read = typeof value === "string" ? readSql(value, functions) : NO_TEXT;
          if (read.kind === "unclear") return [unclear("sql", read.reason)];
          return read.statements.flatMap((one) => judgePart({ kind: "statement", ...one }, rules));
        },
        identity: (text) => {
          const read = readSql(text, functions);
          return read.kind === "unclear" ? text.trim() : read.identity;
        },
      };
    case "http": {
      const argument = settings.argument ?? "method";
      return {
        argument,
        judge: (value, args) => {
          const read =
            typeof value === "string" ? readRequest(requestParts(args, argument)) : NO_TEXT;
          return read.kind === "unclear"
            ? [unclear("request", read.reason)]
            : judgePart(read, rules);
        },
        identity: null,
      };
    }
    case "files":
      return {
        argument: settings.argument ?? "path",
        judge: (value) => {
          const paths = isWords(value) ? value : [value];
          return paths.flatMap((path) =>
            typeof path === "string"
              ? judgePart(fixedPart(FILE, { path, access }, "."), rules)
              : [unclear("path", NO_TEXT.reason)],
          );
        },
        identity: null,
      };
  }
}

/** Every spelling of an option in one; `./a` is `a`. The order counts: a later option may override an earlier one. */
function canonicalWords(command: PlainCommand, rules: Rules): readonly string[] | null {
  const form = readForm(rules.programs, command, rules.assignments);
  if (form.problem !== null || form.inner !== null) return null;
  const options = form.options.map(({ name, value }) =>
    value === null ? name : `${name}=${value}`,
  );
  const operands = form.operands.map((one) => one.replace(/^(?:\.\/+)+(?=.)/, ""));
  return [...form.path, ...options, "", ...operands];
}

const NO_TEXT = { kind: "unclear", reason: "the argument is no text" } as const;

function isWords(value: unknown): value is readonly string[] {
  return (
    Array.isArray(value) && value.length > 0 && value.every((word) => typeof word === "string")
  );
}

function shellLine(text: string, { assignments }: Rules): ParsedLine {
  return parseLine(text, { assignments, startDirectory: "." });
}

/** One command, with or without the word `git`. */
function gitLine(text: string, rules: Rules): ParsedLine {
  const line = shellLine(text, rules);
  if (line.kind === "unclear") return line;
  const [command, more] = line.commands;
  if (command === undefined || more !== undefined || command.redirections.length > 0) {
    return { kind: "unclear", reason: "it is not one git command" };
  }
  return { ...line, commands: [{ ...command, ...asGit(command) }] };
}

function asGit({ words, globs }: PlainCommand): Pick<PlainCommand, "words" | "globs"> {
  if (words[0] === "git") return { words, globs };
  return { words: ["git", ...words], globs: new Set([...globs].map((at) => at + 1)) };
}

/** Words that no shell reads. */
function wordsLine(words: readonly string[], language: "shell" | "git"): ParsedLine {
  const command: PlainCommand = {
    words,
    globs: new Set(),
    expansions: [],
    assignments: [],
    redirections: [],
    channels: [],
    inputs: [],
    directory: ".",
  };
  const read = language === "git" ? { ...command, ...asGit(command) } : command;
  return { kind: "plain", commands: [read], joints: [] };
}
