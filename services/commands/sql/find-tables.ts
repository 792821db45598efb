import type { Token } from "./read-tokens.ts";
import {
  AFTER_TABLES,
  BEFORE_TABLE,
  KINDS_BEFORE_NAME,
  MODIFIERS,
  NAMING_AFTER_ON,
  NAMING_STATEMENTS,
  SKIPPED_BEFORE_NAME,
} from "./words.ts";

/** `name`: the next word is a table; `list`: the word after the next comma is; `none`: neither. */
type State = "name" | "list" | "none";

/**
 * The tables that a statement names, with their schemas. Where a word may be a table or something
 * else, it is listed: queries of a `with`, objects of other kinds, functions used as tables.
 * @param verbs the statements in these tokens: they decide what `on`, `using` and `to` mean.
 */
export function findTables(tokens: readonly Token[], verbs: ReadonlySet<string>): string[] {
  const before = wordsBeforeTable(verbs);
  const tables = new Set<string>();
  const outer: State[] = [];
  let state: State = "none";
  for (const [at, { kind, text }] of tokens.entries()) {
    const previous = tokens[at - 1];
    if (previous?.text === ".") continue;
    if (kind === "sign") state = stateAfterSign(text, state, previous, outer);
    if (kind === "sign" || kind === "number") continue;
    if (state === "name" && isName(tokens, at, before)) tables.add(nameAt(tokens, at));
    state = stateAfterWord(tokens, at, state, before);
  }
  return [...tables];
}

function wordsBeforeTable(verbs: ReadonlySet<string>): ReadonlySet<string> {
  const words = new Set(BEFORE_TABLE);
  if ([...verbs].some((verb) => NAMING_AFTER_ON.has(verb))) words.add("on");
  if (verbs.has("delete") || verbs.has("merge")) words.add("using");
  if (["create", "alter", "rename"].some((verb) => verbs.has(verb))) words.add("to");
  return words;
}

function stateAfterSign(
  sign: string,
  state: State,
  previous: Token | undefined,
  outer: State[],
): State {
  if (sign === ",") return state === "none" ? "none" : "name";
  if (sign === ")") return outer.pop() ?? "none";
  if (sign !== "(") return state;
  // `update top (10) users`: the table follows the parentheses. `from (a join b), c`: tables are
  // inside and after.
  const isModifier = previous !== undefined && MODIFIERS.has(previous.word);
  outer.push(state === "name" && !isModifier ? "list" : state);
  return state === "name" && !isModifier ? "name" : "none";
}

function stateAfterWord(
  tokens: readonly Token[],
  at: number,
  state: State,
  before: ReadonlySet<string>,
): State {
  const { kind, word } = tokens[at] as Token;
  if (kind !== "word") return state === "name" ? "list" : state;
  if (word === "on" && /^(?:update|delete)$/.test(tokens[at + 1]?.word ?? "")) return "none";
  if (before.has(word) || startsWithName(tokens, at)) return "name";
  if (AFTER_TABLES.has(word)) return "none";
  if (state !== "name") return state;
  const isBefore = SKIPPED_BEFORE_NAME.has(word) || MODIFIERS.has(word) || isKind(tokens, at);
  return isBefore ? "name" : "list";
}

/**
 * Whether a name follows; not in `on delete cascade`, `for update`, `on duplicate key update`; nor
 * in `insert (a, b)` of a merge.
 */
function startsWithName(tokens: readonly Token[], at: number): boolean {
  const before = tokens[at - 1]?.word ?? "";
  const isStatement = NAMING_STATEMENTS.has(tokens[at]?.word ?? "");
  return isStatement && !/^(?:on|for|key)$/.test(before) && tokens[at + 1]?.text !== "(";
}

function isName(tokens: readonly Token[], at: number, before: ReadonlySet<string>): boolean {
  const { kind, word } = tokens[at] as Token;
  if (kind !== "word") return true;
  if (AFTER_TABLES.has(word) || SKIPPED_BEFORE_NAME.has(word) || before.has(word)) return false;
  return !isKind(tokens, at) && !isFollowedByInto(tokens, at) && !startsWithName(tokens, at);
}

/**
 * Whether the word is a kind: in `drop view v`, but not in `delete user where`, where it is the
 * table.
 */
function isKind(tokens: readonly Token[], at: number): boolean {
  const next = tokens[at + 1];
  if (!KINDS_BEFORE_NAME.has(tokens[at]?.word ?? "")) return false;
  return (next?.kind === "word" && !AFTER_TABLES.has(next.word)) || next?.kind === "name";
}

/** `insert ignore into t`. */
function isFollowedByInto(tokens: readonly Token[], at: number): boolean {
  const next = tokens[at + 1]?.word ?? "";
  return MODIFIERS.has(tokens[at]?.word ?? "") && BEFORE_TABLE.has(next);
}

/** `schema.table`, without blanks and quotes. */
function nameAt(tokens: readonly Token[], from: number): string {
  let name = tokens[from]?.name ?? "";
  for (let at = from + 1; tokens[at]?.text === "."; at += 2)
    name += `.${tokens[at + 1]?.name ?? ""}`;
  return name;
}
