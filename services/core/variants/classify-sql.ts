/**
 * The class of a text of SQL statements: that of the strictest. Words are looked at outside of strings,
 * quoted names and comments. What begins with no known reading word, or calls an unknown function, writes.
 */

import {
  afterBlank,
  type Dialect,
  dialectsOf,
  END,
  ODD_SPACE,
  readPiece,
  type Token,
} from "./sql-pieces.ts";
import { strictestOf, type VariantClass } from "./variant-class.ts";

const LENGTH_MAX = 1_048_576;

/** One statement of a text: its tokens, and where it begins and ends. */
interface Statement {
  readonly tokens: readonly Token[];
  readonly from: number;
  readonly to: number;
}

export interface SqlReading {
  readonly class: VariantClass;
  /** The statements that one server or another sees, without what is around them; none in comments; null: it could not be read. */
  readonly statements: readonly string[] | null;
}

const UNREAD: SqlReading = { class: "write", statements: null };

export function classifySql(text: string): VariantClass {
  return readSql(text).class;
}

/** Servers differ in what is a comment and what a quote: the strictest of their readings counts. */
export function readSql(text: string): SqlReading {
  if (text.length > LENGTH_MAX) return UNREAD;
  // Servers disagree whether a carriage return ends a comment.
  if (/--|#/.test(text) && /\r(?!\n|$)/.test(text)) return UNREAD;
  const classes: VariantClass[] = [];
  const texts = new Set<string>();
  for (const dialect of dialectsOf(text)) {
    const statements = readStatements(text, dialect);
    if (statements === null) return UNREAD;
    if (statements.length === 0) classes.push("write");
    for (const { tokens, from, to } of statements) {
      classes.push(classOfStatement(tokens));
      texts.add(text.slice(from, to).trimEnd());
    }
  }
  return { class: strictestOf(classes), statements: [...texts] };
}

const READING = new Set([
  "select",
  "values",
  "table",
  "show",
  "explain",
  "describe",
  "desc",
  "with",
]);

export const WRITING: ReadonlySet<string> = new Set(
  (
    "insert update delete merge replace upsert create alter drop truncate rename grant revoke call do copy into " +
    "lock vacuum analyze reindex cluster refresh comment set reset begin commit rollback savepoint attach detach " +
    "load import export execute exec prepare deallocate listen notify unlisten use handler flush kill purge optimize dbcc backup restore " +
    "shutdown reconfigure deny waitfor writetext updatetext xlock updlock tablockx nextval go"
  ).split(" "),
);

/** Differ each time they are asked. */
const MOVING = new Set(
  (
    "now current_timestamp current_time current_date localtime localtimestamp random rand uuid gen_random_uuid newid " +
    "clock_timestamp statement_timestamp transaction_timestamp getdate sysdate sysdatetime timeofday"
  ).split(" "),
);

/** Words that stand before a parenthesis and call nothing. */
const NO_CALLS = new Set(
  (
    "select from where and or not in exists any all some as on using values over partition by order group having " +
    "union intersect except case when then else end join inner left right full outer cross lateral with recursive " +
    "materialized limit offset fetch distinct filter within rows range between like ilike is null interval array row " +
    "explain varchar char character decimal numeric int integer bigint text timestamp date time float double boolean " +
    "show table return if escape similar to"
  ).split(" "),
);

/** Functions of the usual databases that change nothing. */
const PURE_CALLS = new Set(
  (
    "count sum avg min max coalesce nullif greatest least abs ceil ceiling floor round trunc truncate mod power pow " +
    "sqrt exp ln log sign lower upper initcap length char_length character_length octet_length trim ltrim rtrim btrim " +
    "substr substring left right replace translate position strpos instr concat concat_ws lpad rpad repeat reverse " +
    "split_part regexp_replace regexp_matches regexp_match regexp_like to_char to_date to_timestamp to_number cast " +
    "convert try_cast date_trunc date_part extract age make_date date_add date_sub datediff dateadd date_format " +
    "strftime julianday datetime year month day hour minute second quarter week array_agg string_agg group_concat " +
    "json_agg jsonb_agg json_object_agg json_build_object jsonb_build_object json_extract json_extract_path_text " +
    "json_array_length jsonb_array_length json_each jsonb_each jsonb_array_elements json_array_elements to_json " +
    "to_jsonb row_to_json unnest array_length array_to_string string_to_array cardinality row_number rank dense_rank " +
    "percent_rank ntile lag lead first_value last_value nth_value percentile_cont percentile_disc mode stddev " +
    "stddev_pop stddev_samp variance var_pop var_samp corr bool_and bool_or every bit_and bit_or median total " +
    "generate_series ifnull isnull nvl iif typeof md5 sha256 encode decode hex ascii chr char format quote_ident " +
    "quote_literal pg_typeof pg_get_viewdef pg_get_constraintdef pg_get_indexdef pg_get_functiondef pg_size_pretty " +
    "pg_relation_size pg_total_relation_size pg_table_size pg_indexes_size pg_database_size obj_description " +
    "col_description format_type has_table_privilege current_database current_schema current_user version to_regclass"
  ).split(" "),
);

function classOfStatement(tokens: readonly Token[]): VariantClass {
  const first = tokens[0]?.word ?? "";
  if (first === "pragma") return classOfPragma(tokens);
  if (!READING.has(first)) return "write";
  const own = nameOfQuery(tokens);
  let moves = false;
  for (const [at, { word, call }] of tokens.entries()) {
    if (acts(tokens, at)) return "write";
    const isMoving = MOVING.has(word);
    const isPlain = NO_CALLS.has(word) || at === own || isLimit(tokens, at);
    const isKnown = isMoving || PURE_CALLS.has(word) || isPlain;
    if (call && (!isKnown || isMember(tokens, at))) return "write";
    moves ||= isMoving;
  }
  return moves ? "watch" : "read";
}

/** `replace(` and `truncate(` are functions; everything else that writes may stand anywhere. */
function acts(tokens: readonly Token[], at: number): boolean {
  const { word, call } = tokens[at] as Token;
  if (WRITING.has(word)) return !(call && PURE_CALLS.has(word));
  // The next number of a sequence is taken from it.
  return word === "next" && tokens[at + 1]?.word === "value";
}

/** `select top (10)`, `select distinct top (10)`. */
function isLimit(tokens: readonly Token[], at: number): boolean {
  return tokens[at]?.word === "top" && /^(?:select|distinct|all)$/.test(tokens[at - 1]?.word ?? "");
}

/** A function of some schema may be called as one of the server's own. */
function isMember(tokens: readonly Token[], at: number): boolean {
  return tokens[at - 1]?.word === "." && tokens[at - 2]?.word !== "pg_catalog";
}

/** Pragmas of SQLite that show something of what their parentheses name. */
const SHOWING_PRAGMAS = new Set(
  (
    "table_info table_xinfo table_list index_list index_info index_xinfo foreign_key_list foreign_key_check " +
    "integrity_check quick_check"
  ).split(" "),
);

/** Those that do something without any value. */
const ACTING_PRAGMAS = new Set(
  "wal_checkpoint optimize incremental_vacuum shrink_memory".split(" "),
);

/** `name = value` and `name(value)` are the same. */
function classOfPragma(tokens: readonly Token[]): VariantClass {
  if (tokens.some(({ word }) => word === "=" || ACTING_PRAGMAS.has(word))) return "write";
  const at = tokens.findIndex(({ call }) => call);
  // A name in quotes is one, too, and nobody looked which.
  if (tokens.slice(0, at < 0 ? undefined : at).some(({ word }) => word === "'")) return "write";
  const called = tokens[at];
  if (called === undefined) return "read";
  return SHOWING_PRAGMAS.has(called.word) ? "read" : "write";
}

/** `with name (columns) as (…)` looks like a call and is none. Later ones count as calls. */
function nameOfQuery(tokens: readonly Token[]): number {
  if (tokens[0]?.word !== "with") return -1;
  return tokens[1]?.word === "recursive" ? 2 : 1;
}

function readStatements(text: string, dialect: Dialect): readonly Statement[] | null {
  const statements: Statement[] = [];
  let tokens: Token[] = [];
  let from = -1;
  const isOdd = ODD_SPACE.test(text);
  const { blank } = dialect;
  for (let at = afterBlank(text, 0, blank); at < text.length; at = afterBlank(text, at, blank)) {
    const piece = readPiece(text, at, dialect);
    if (piece === null || (isOdd && ODD_SPACE.test(piece.token?.word ?? ""))) return null;
    const begin = at;
    at = piece.end;
    if (piece.token === END) {
      statements.push({ tokens, from, to: begin });
      tokens = [];
      from = -1;
      continue;
    }
    if (from < 0) from = begin;
    if (piece.token !== null) tokens.push(piece.token);
  }
  statements.push({ tokens, from, to: text.length });
  return statements.filter((one) => one.tokens.length > 0);
}
