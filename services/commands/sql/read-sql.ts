/**
 * Reads SQL text: its statements, the tables they name, and whether each may change something.
 * Strings, quoted names and comments are skipped in the search for words. A word that the reader
 * does not know is never taken for part of a read.
 */

import { findTables } from "./find-tables.ts";
import { readTokens, type Token } from "./read-tokens.ts";
import {
  ACTING_PRAGMAS,
  INNER_STATEMENTS,
  KEYWORDS,
  PURE_FUNCTIONS,
  READING_STATEMENTS,
  SAME_STATEMENTS,
  SHOWING_PRAGMAS,
  UNCALLED_WORDS,
  VOLATILE_FUNCTIONS,
  WRITING_PAIRS,
  WRITING_STATEMENTS,
  WRITING_WORDS,
} from "./words.ts";

export interface SqlStatement {
  /** Lower case: `select`, `delete`, `create`, …, `explain`, `pragma`. */
  readonly statement: string;
  /**
   * Lower case, without quotes, with the schema where one is written. The list may have more names
   * than the statement touches.
   */
  readonly tables: readonly string[];
  /** `watch`: a read whose answer changes by itself (`now()`). */
  readonly does: "read" | "watch" | "write";
}

export type SqlReading =
  | {
      readonly kind: "statements";
      /**
       * Never empty. One written statement may give several: `with x as (delete …) select …` is a
       * `delete` and a `select`.
       */
      readonly statements: readonly SqlStatement[];
      /**
       * Equal for two texts that differ only in white space, comments, the case of keywords and a
       * last `;`.
       */
      readonly identity: string;
    }
  | { readonly kind: "unclear"; readonly reason: string };

/** UTF-16 code units. */
const LENGTH_MAX = 1_048_576;

/**
 * Reads SQL text. Never throws; time is linear in the text.
 * @param extraFunctions functions that change nothing, beside the built-in list: `my_rank`, `geo.distance`; lower case.
 */
export function readSql(text: string, extraFunctions: ReadonlySet<string>): SqlReading {
  if (text.length > LENGTH_MAX) return unclear(`the SQL is longer than ${LENGTH_MAX} characters`);
  if (/--|#/.test(text) && /\r(?!\n|$)/.test(text))
    return unclear("a carriage return ends a comment for some servers and not for others");
  const readings = readTokens(text);
  if (readings === null)
    return unclear("the SQL has a quote, comment or character that servers read differently");
  const statements: SqlStatement[] = [];
  const identities = new Set<string>();
  for (const tokens of readings) {
    const parts = splitStatements(tokens);
    if (parts.length === 0) return unclear("the SQL holds no statement");
    for (const part of parts) {
      const read = readStatement(part, extraFunctions);
      if (read === null) return unclear(`a statement begins with the unknown ${quoteStart(part)}`);
      statements.push(...read);
    }
    identities.add(parts.map(identityOf).join(";"));
  }
  const [identity = "", ...others] = identities;
  const isOne = others.length === 0;
  return {
    kind: "statements",
    statements,
    identity: isOne ? identity : JSON.stringify([...identities]),
  };
}

function unclear(reason: string): SqlReading {
  return { kind: "unclear", reason };
}

const START_LENGTH = 40;

function quoteStart(tokens: readonly Token[]): string {
  return JSON.stringify((tokens[0]?.text ?? "").slice(0, START_LENGTH));
}

/**
 * Whether a rule's table name matches a statement's table: `users` matches in every schema,
 * `public.users` in that one alone.
 */
export function matchesTable(table: string, name: string): boolean {
  const wanted = name.toLowerCase();
  return table === wanted || (!wanted.includes(".") && table.endsWith(`.${wanted}`));
}

function splitStatements(tokens: readonly Token[]): readonly (readonly Token[])[] {
  const parts: Token[][] = [[]];
  for (const token of tokens) {
    if (token.text === ";") parts.push([]);
    else parts.at(-1)?.push(token);
  }
  return parts.filter((part) => part.length > 0);
}

/** Null: no list contains its first word. */
function readStatement(
  tokens: readonly Token[],
  extraFunctions: ReadonlySet<string>,
): readonly SqlStatement[] | null {
  const head = tokens.find(({ text }) => text !== "(");
  if (head?.kind !== "word") return null;
  const isReading = READING_STATEMENTS.has(head.word);
  if (!isReading && !WRITING_STATEMENTS.has(head.word)) return null;
  const does = isReading ? doesOf(tokens, head.word, extraFunctions) : "write";
  const verbs = new Set([SAME_STATEMENTS.get(head.word) ?? head.word]);
  for (const at of tokens.keys()) {
    if (isInnerStatement(tokens, at)) {
      const word = tokens[at]?.word ?? "";
      verbs.add(SAME_STATEMENTS.get(word) ?? word);
    }
  }
  const tables = findTables(tokens, verbs);
  return [...verbs].map((statement) => ({ statement, tables, does }));
}

/**
 * Whether a statement begins here; not in `on delete cascade`, `for update`, `replace(a, b, c)`,
 * `create or replace`, `show create table`.
 */
function isInnerStatement(tokens: readonly Token[], at: number): boolean {
  const { kind, word } = tokens[at] as Token;
  if (kind !== "word" || !INNER_STATEMENTS.has(word) || isMember(tokens, at)) return false;
  const before = tokens[at - 1]?.word ?? "";
  if (/^(?:update|delete)$/.test(word) && /^(?:on|for)$/.test(before)) return false;
  if (word === "replace" && before === "or" && tokens[at - 2]?.word === "create") return false;
  return !isCalled(tokens, at, word) && !(word === "create" && before === "show");
}

/** Whether the word is a call of a pure function: `replace(`, `truncate(`. */
function isCalled(tokens: readonly Token[], at: number, word: string): boolean {
  return PURE_FUNCTIONS.has(word) && tokens[at + 1]?.text === "(";
}

/**
 * Whether the word follows a name and a dot: then it is a column or a function of a schema.
 * `1.delete` is neither.
 */
function isMember(tokens: readonly Token[], at: number): boolean {
  const before = tokens[at - 2]?.kind;
  return tokens[at - 1]?.text === "." && (before === "word" || before === "name");
}

function doesOf(
  tokens: readonly Token[],
  head: string,
  extraFunctions: ReadonlySet<string>,
): SqlStatement["does"] {
  if (head === "pragma") return doesOfPragma(tokens);
  let isVolatile = false;
  for (const [at, { kind, word }] of tokens.entries()) {
    if (kind === "word" && writes(tokens, at, word)) return "write";
    if (tokens[at + 1]?.text === "(" && !isHarmlessCall(tokens, at, extraFunctions)) return "write";
    isVolatile ||= kind === "word" && VOLATILE_FUNCTIONS.has(word);
  }
  return isVolatile ? "watch" : "read";
}

function writes(tokens: readonly Token[], at: number, word: string): boolean {
  if (WRITING_PAIRS.get(word)?.has(tokens[at + 1]?.word ?? "") === true) return true;
  if (!WRITING_WORDS.has(word)) return false;
  // A column; `s.nextval`, though, takes the next number of a sequence.
  if (isMember(tokens, at)) return word === "nextval";
  return !isCalled(tokens, at, word) && !(word === "create" && tokens[at - 1]?.word === "show");
}

/**
 * Whether the word before a parenthesis calls nothing, or a function that changes nothing. A quoted
 * name may be any function.
 */
function isHarmlessCall(
  tokens: readonly Token[],
  at: number,
  extraFunctions: ReadonlySet<string>,
): boolean {
  const { kind, word } = tokens[at] as Token;
  if (kind !== "word") return kind !== "name";
  if (isMember(tokens, at)) {
    const schema = tokens[at - 3]?.text === "." ? "" : tokens[at - 2]?.word;
    return extraFunctions.has(`${schema}.${word}`) || (schema === "pg_catalog" && isPure(word));
  }
  if (tokens[at - 1]?.text === ".") return false;
  const isHarmless = isPure(word) || UNCALLED_WORDS.has(word) || extraFunctions.has(word);
  return isHarmless || isListed(tokens, at, word);
}

/**
 * Whether parentheses after the word hold columns or a number: `with q (a, b) as`, `from f() as t
 * (a, b)`, `select top (10)`.
 */
function isListed(tokens: readonly Token[], at: number, word: string): boolean {
  const before = tokens[at - 1]?.word ?? "";
  if (word === "top") return /^(?:select|distinct|all)$/.test(before);
  return before === "as" || (before === "with" && at === 1) || (before === "recursive" && at === 2);
}

function isPure(word: string): boolean {
  return PURE_FUNCTIONS.has(word) || VOLATILE_FUNCTIONS.has(word);
}

/** `name = value` and `name(value)` mean the same. A quoted name may be any pragma. */
function doesOfPragma(tokens: readonly Token[]): "read" | "write" {
  const open = tokens.findIndex(({ text }) => text === "(");
  const before = tokens.slice(0, open < 0 ? undefined : open);
  const isPlain = before.every(({ kind, text }) => kind === "word" || text === ".");
  if (!isPlain || before.some(({ word }) => ACTING_PRAGMAS.has(word))) return "write";
  return open < 0 || SHOWING_PRAGMAS.has(before.at(-1)?.word ?? "") ? "read" : "write";
}

/** The statement with one space where white space may matter, and keywords in lower case. */
function identityOf(tokens: readonly Token[]): string {
  const pieces: string[] = [];
  let last = "(";
  for (const { kind, text, word, spaced } of tokens) {
    if (spaced && isBlankNeeded(last, text.charAt(0))) pieces.push(" ");
    pieces.push(kind === "word" && KEYWORDS.has(word) ? word : text);
    last = text.slice(-1);
  }
  return pieces.join("");
}

/** Without a space two words would become one word, and two signs one operator. */
function isBlankNeeded(last: string, first: string): boolean {
  const isAlone = /[(),]/.test(last) || /[(),]/.test(first);
  return !isAlone && isOfWord(last) === isOfWord(first);
}

/**
 * Letters, and characters that change the meaning of a letter beside them: quotes, dots, brackets.
 */
function isOfWord(letter: string): boolean {
  return /[\w$.'"`[\]\u0080-\uffff]/.test(letter);
}
