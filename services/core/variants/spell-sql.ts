/**
 * Other spellings of one statement, and the statements that begin inside of it: rules are looked up for all of them,
 * so that none is evaded by what changes nothing.
 */

import { WRITING } from "./classify-sql.ts";
import { type NameForms, nameForms } from "./sql-names.ts";
import { type OtherName, otherNames } from "./sql-others.ts";
import {
  afterBlank,
  type Dialect,
  dialectsOf,
  END,
  isEdge,
  isOfWord,
  type Piece,
  QUOTED_CALL,
  readPiece,
  TEXT,
} from "./sql-pieces.ts";

/** Called as a function in loops: see docs/style.md, "Loops over texts". */
const { charCodeAt } = String.prototype;

/** Characters of all parts of one spelling; beyond, they count as a text that is not seen. */
const PARTS_LENGTH_MAX = 1_048_576;

export interface SqlSpellings {
  /** The whole statement. */
  readonly texts: readonly string[];
  /**
   * From each writing word inside of it, to its end: servers differ in where one statement ends. And up to the
   * parenthesis that closes around the word. And with each further name in the place of the first.
   */
  readonly parts: readonly string[];
  /** It runs a text that is not seen. */
  readonly hidden: boolean;
}

/** Without comments, in single spaces, in different styles. */
export function spellSql(statement: string): SqlSpellings {
  const texts = new Set<string>();
  const parts = new Set<string>();
  let hidden = false;
  for (const dialect of dialectsOf(statement)) {
    const pieces = piecesOf(statement, dialect);
    hidden ||= pieces.some((_, at) => runsText(pieces, at));
    const heads = pieces.flatMap((_, at) => (beginsStatement(pieces, at) ? [at] : []));
    const closings = closingsOf(pieces, heads);
    const isHead = new Set([0, ...heads]);
    const forms = nameForms(pieces, (at) => isHead.has(at));
    const others = otherNames(pieces, forms.names);
    hidden ||= others === null;
    const further = others?.map((one) => ({ ...one, head: headOf(heads, one.first) })) ?? [];
    for (const style of stylesFor(forms)) {
      const whole = spelled(pieces, heads, style);
      texts.add(whole.text);
      const found = partsOf(whole, closings, further);
      hidden ||= found === null;
      for (const part of found ?? []) parts.add(part);
    }
  }
  return { texts: [...texts], parts: [...parts], hidden };
}

/** A name in the place of another, and where the statement of both begins. */
interface Further extends OtherName {
  readonly head: number;
}

/** Null: they are too long. */
function partsOf(
  { text, begins, places, starts }: SpelledPieces,
  closings: ReadonlyMap<number, number>,
  further: readonly Further[],
): readonly string[] | null {
  const startOf = (at: number): number => starts[at] ?? text.length;
  const spans = begins.flatMap(({ at, from }) => {
    const closing = places[closings.get(at) ?? -1];
    const whole = { from, to: text.length };
    return closing === undefined ? [whole] : [whole, { from, to: closing }];
  });
  const length = spans.reduce((sum, { from, to }) => sum + to - from, 0);
  if (length + further.length * text.length > PARTS_LENGTH_MAX) return null;
  const about = further.map(
    ({ head, first, name }) =>
      text.slice(startOf(head), startOf(first)) + text.slice(startOf(name)),
  );
  return [...spans.map(({ from, to }) => text.slice(from, to)), ...about];
}

/** Where the statement begins that the place is in. */
function headOf(heads: readonly number[], at: number): number {
  return heads.findLast((head) => head < at) ?? 0;
}

/** A piece of the statement, as it is written. */
interface Written {
  readonly text: string;
  /** In small letters; of a string `'`, of a name in quotes `"`. */
  readonly word: string;
  readonly call: boolean;
  /** The text; of a name in quotes that needs none, what is in them. */
  readonly bare: string;
  /** A space stands before it, or may. */
  readonly apart: boolean;
}

/** Of the first statement. */
function piecesOf(text: string, dialect: Dialect): readonly Written[] {
  const pieces: Written[] = [];
  let apart = false;
  for (let at = afterBlank(text, 0, dialect.blank); at < text.length; ) {
    const piece = readPiece(text, at, dialect);
    if (piece === null || piece.token === END) break;
    const end = piece.token === null ? digitsEnd(text, at, piece.end) : piece.end;
    pieces.push(writtenOf(text.slice(at, end), piece, apart));
    at = afterBlank(text, end, dialect.blank);
    apart = at > end || standsApart(text, at);
  }
  return pieces;
}

/** Of a number, which is one piece here: texts hold many of them. */
function digitsEnd(text: string, from: number, pieceEnd: number): number {
  let end = pieceEnd;
  if (isDigit(charCodeAt.call(text, from))) {
    while (isDigit(charCodeAt.call(text, end))) end += 1;
  }
  return end;
}

function isDigit(unit: number): boolean {
  return unit >= 0x30 && unit <= 0x39;
}

const SIMPLE_NAME = /^["`[]([A-Za-z_\u0080-\uffff][\w$\u0080-\uffff]*)["`\]]$/;

function writtenOf(text: string, { token }: Piece, apart: boolean): Written {
  const call = token?.call ?? false;
  const isQuoted = token === TEXT || token === QUOTED_CALL;
  if (!isQuoted) return { text, word: token?.word ?? text, call, bare: text, apart };
  const bare = SIMPLE_NAME.exec(text)?.[1] ?? text;
  return { text, word: isString(text) ? TEXT.word : QUOTED_CALL.word, call, bare, apart };
}

function isString(quoted: string): boolean {
  return quoted.startsWith("'") || quoted.startsWith("$");
}

/** Whether a space may stand before the letter, which changes nothing. */
function standsApart(text: string, at: number): boolean {
  const before = charCodeAt.call(text, at - 1);
  const after = charCodeAt.call(text, at);
  if (isEdge(before)) return isEdge(after) || isOfWord(after);
  return isEdge(after) && isOfWord(before);
}

/** What is written where the server does not look. */
interface Style {
  readonly unquoted: boolean;
  /** Spaces around a dot. */
  readonly dots: "as written" | "none";
  /** Spaces before a parenthesis. */
  readonly parenthesis: "as written" | "none" | "one";
  /** Places of pieces that are left out. */
  readonly left?: ReadonlySet<number>;
  /** What is said before a piece that is not written there. */
  readonly links?: ReadonlyMap<number, string>;
}

const STYLES: readonly Style[] = [
  { unquoted: false, dots: "as written", parenthesis: "as written" },
  { unquoted: false, dots: "none", parenthesis: "none" },
  { unquoted: true, dots: "none", parenthesis: "as written" },
  { unquoted: true, dots: "none", parenthesis: "none" },
  { unquoted: true, dots: "none", parenthesis: "one" },
];

const PARENTHESES = ["as written", "none", "one"] as const;

/** Those of all statements; and names without their schemas, without what changes nothing before them, and without both. */
function stylesFor({ schemas, modifiers, links }: NameForms): readonly Style[] {
  const forms: Pick<Style, "left" | "links">[] = [];
  const isModified = modifiers.size > 0 || links.size > 0;
  if (schemas.size > 0) forms.push({ left: schemas });
  if (isModified) forms.push({ left: modifiers, links });
  if (schemas.size > 0 && isModified) {
    forms.push({ left: new Set([...schemas, ...modifiers]), links });
  }
  const more = forms.flatMap((form) =>
    PARENTHESES.map(
      (parenthesis) => ({ ...form, unquoted: true, dots: "none", parenthesis }) as const,
    ),
  );
  return [...STYLES, ...more];
}

/** By head: the parenthesis that closes around it. */
function closingsOf(
  pieces: readonly Written[],
  heads: readonly number[],
): ReadonlyMap<number, number> {
  const closings = new Map<number, number>();
  const isHead = new Set(heads);
  /** Of each parenthesis that is open, the heads in it. */
  const open: number[][] = [];
  for (const [at, { word }] of pieces.entries()) {
    if (word === "(") open.push([]);
    else if (word === ")") for (const head of open.pop() ?? []) closings.set(head, at);
    else if (isHead.has(at)) open.at(-1)?.push(at);
  }
  return closings;
}

interface SpelledPieces {
  readonly text: string;
  /** Where the pieces at `heads` begin, of those that are not left out. */
  readonly begins: readonly { readonly at: number; readonly from: number }[];
  /** Of each piece, where what stands before it ends. */
  readonly places: readonly number[];
  /** Of each, where it begins, or what follows where it is left out. */
  readonly starts: readonly number[];
}

function spelled(
  pieces: readonly Written[],
  heads: readonly number[],
  style: Style,
): SpelledPieces {
  let text = "";
  const begins: { at: number; from: number }[] = [];
  const places: number[] = [];
  const starts: number[] = [];
  let next = 0;
  let link = "";
  const { left, links } = style;
  for (const [at, piece] of pieces.entries()) {
    const isHead = heads[next] === at;
    if (isHead) next += 1;
    link = links?.get(at) ?? link;
    places.push(text.length);
    if (left?.has(at)) continue;
    text += spaceBefore(pieces, at, style);
    if (link !== "") text += `${link} `;
    link = "";
    if (isHead) begins.push({ at, from: text.length });
    while (starts.length <= at) starts.push(text.length);
    text += style.unquoted ? piece.bare : piece.text;
  }
  return { text, begins, places, starts };
}

function spaceBefore(pieces: readonly Written[], at: number, style: Style): string {
  const isBehindLeft = style.left?.has(at - 1) === true;
  return isBehindLeft || hasSpace(pieces[at - 1], pieces[at] as Written, style) ? " " : "";
}

function hasSpace(
  before: Written | undefined,
  { word, apart }: Written,
  { dots, parenthesis }: Style,
): boolean {
  if (dots === "none" && (word === "." || before?.word === ".")) return false;
  if (word !== "(" || parenthesis === "as written") return apart;
  return parenthesis === "one" && before?.call === true;
}

const words = (text: string): ReadonlySet<string> => new Set(text.split(" "));

/** Writing words that begin no statement of which another could be a part. */
const NO_HEADS = words("set into go begin do analyze xlock updlock tablockx nextval");
/** What stands before them where they are the name of a privilege; no name may be one of these. */
const NOT_BEFORE = words("grant revoke");
/** What is done on an event of a table, as in `on delete cascade`; `on delete set null` says it by `set`. */
const EVENTS = words("delete update");
const AT_EVENT = words("cascade restrict current_timestamp");
/** What stands behind them there, behind columns, and behind parts of other statements (`do update set`). */
const NOT_BEHIND = words(
  ". , ) = ; + - < > on or to of as is and in not like between asc desc set column constraint default when where " +
    "group order limit join union",
);
/** What `alter` takes no part of away, or adds to itself. */
const KINDS = words(
  "table database schema view materialized user role login sequence procedure proc function trigger type extension " +
    "tablespace server domain aggregate temporary temp or unique",
);

const ALTERING = words("drop rename alter truncate import export lock");

/** `alter table a drop b` is one statement, `select 1 drop table a` is two. */
function beginsStatement(pieces: readonly Written[], at: number): boolean {
  const { word, call } = pieces[at] as Written;
  if (at === 0 || call || !WRITING.has(word) || NO_HEADS.has(word)) return false;
  const before = (pieces[at - 1] as Written).word;
  const behind = pieces[at + 1]?.word ?? ";";
  if (NOT_BEFORE.has(before) || NOT_BEHIND.has(behind) || isMember(pieces, at)) return false;
  if (before === "on" ? isEvent(pieces, at) : before === "key" && isOfKey(pieces, at)) return false;
  const first = (pieces[0] as Written).word;
  if (behind === "from" && word !== "delete") return false;
  if (word === "update" && before === "for") return first === "explain";
  return first !== "alter" || !ALTERING.has(word) || KINDS.has(behind);
}

/** `on delete cascade` is, the `delete` of `set nocount on delete from a` is a statement. */
function isEvent(pieces: readonly Written[], at: number): boolean {
  if (!EVENTS.has((pieces[at] as Written).word)) return false;
  const behind = pieces[at + 1]?.word ?? "";
  const next = pieces[at + 2]?.word;
  if (behind === "no") return next === "action";
  return AT_EVENT.has(behind) || (behind === "now" && next === "(");
}

/** `on duplicate key update`, `for no key update`: a column may end in `primary key`, and a statement begin there. */
function isOfKey(pieces: readonly Written[], at: number): boolean {
  const before = pieces[at - 2]?.word;
  return (pieces[at] as Written).word === "update" && (before === "duplicate" || before === "no");
}

/** `a.drop` is, the `drop` behind `1.` is not. */
function isMember(pieces: readonly Written[], at: number): boolean {
  if (pieces[at - 1]?.word !== ".") return false;
  return !isDigit(pieces[at - 2]?.text.charCodeAt(0) ?? 0);
}

/** `do $$…$$`, `exec ('…')`, `execute immediate …`: what runs is in a text, or nowhere. */
function runsText(pieces: readonly Written[], at: number): boolean {
  const { word, bare } = pieces[at] as Written;
  const behind = pieces[at + 1]?.word ?? "";
  if (word === "do") return at === 0 && (isText(pieces, at + 1) || behind === "language");
  if (word === "prepare") return pieces[at + 2]?.word === "from";
  if (bare.length === RUNNER.length && bare.toLowerCase() === RUNNER) return true;
  if (word !== "exec" && word !== "execute") return false;
  // `exec @code = name` has what the procedure returns.
  if (behind === "@" && pieces[at + 3]?.word === "=") return false;
  return isText(pieces, at + 1) || RUN_TEXTS.has(behind);
}

const RUNNER = "sp_executesql";
/** A text in parentheses or in a variable. */
const RUN_TEXTS = words("( @ : immediate");

/** A string, or one of another kind: `N'…'`, `E'…'`. */
function isText(pieces: readonly Written[], at: number): boolean {
  const word = pieces[at]?.word;
  const isPrefix = word === "n" || word === "e";
  return word === TEXT.word || (isPrefix && pieces[at + 1]?.word === TEXT.word);
}
