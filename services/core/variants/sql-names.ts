/**
 * What a statement may say around a name that changes nothing of what it is about: schemas, `only`, `if exists`,
 * `low_priority`, `top (5)`; and words that it may leave out, as `from` in `delete users`.
 */
import type { FoundName } from "./sql-others.ts";

/** A piece of a statement, in small letters; of a name in quotes `"`. */
interface Said {
  readonly word: string;
}

/** By the places of pieces. */
export interface NameForms {
  /** The parts of names before the last one, and their dots. */
  readonly schemas: ReadonlySet<number>;
  /** What stands before or around names besides. */
  readonly modifiers: ReadonlySet<number>;
  /** What could as well stand before the piece. */
  readonly links: ReadonlyMap<number, string>;
  /** In the order of the text. */
  readonly names: readonly FoundName[];
}

const words = (text: string): ReadonlySet<string> => new Set(text.split(" "));

/** A name may stand behind them, or behind a modifier. */
const BEFORE_NAME = words(
  "from into join using exists copy vacuum analyze table view index sequence function procedure proc trigger type domain " +
    "delete update insert replace truncate merge exec execute call alter drop",
);
/** Statements that are about what stands behind `on`. */
const ABOUT = words("grant revoke deny create drop comment");
const MODIFIERS = words(
  "only low_priority high_priority delayed quick ignore concurrently online offline",
);
/** `insert or ignore into` of SQLite. */
const INSTEAD = words("ignore replace abort fail rollback");
const LIMITED = words("delete update insert merge");
/** Statements that may be about several names, and what these stand behind, with commas between them. */
const LISTING = words("drop truncate delete update grant revoke deny");
const BEFORE_LIST = words(
  "table view index sequence function procedure trigger type domain if drop truncate delete update from on",
);
const LINKS = new Map([
  ["delete", "from"],
  ["insert", "into"],
  ["replace", "into"],
  ["merge", "into"],
  ["truncate", "table"],
]);
const NAME = /^["@#\w\u0080-\uffff]/;

/** `begins`: whether a statement begins at a place. Linear in the pieces. */
export function nameForms(pieces: readonly Said[], begins: (at: number) => boolean): NameForms {
  const forms = {
    schemas: new Set<number>(),
    modifiers: new Set<number>(),
    links: new Map<number, string>(),
    names: [] as FoundName[],
  };
  const wordAt: WordAt = (at) => pieces[at]?.word ?? "";
  const closing = closingOf(pieces);
  let statement = "";
  let comma = -1;
  for (let at = 0; at < pieces.length; ) {
    const word = wordAt(at);
    const isStatement = begins(at) && wordAt(at - 1) !== "or";
    if (isStatement) statement = word;
    const isListed = at === comma;
    const isBefore = isListed || (word === "on" && ABOUT.has(statement));
    const found = nameBehind(wordAt, at, isBefore, closing);
    if (found !== null) {
      const { name, last } = found;
      forms.names.push({ before: word, isStatement, isListed, name, last });
      addForms(forms, wordAt, found);
      if (isStatement) addLink(forms.links, wordAt, { verb: word, name });
    }
    if (isListed || mayList(statement, word)) comma = commaBehind(wordAt, found?.last);
    // What is left out is looked at once.
    at = Math.max(found?.last ?? 0, at + 1);
  }
  return forms;
}

type WordAt = (at: number) => string;

function mayList(statement: string, word: string): boolean {
  return LISTING.has(statement) && BEFORE_LIST.has(word);
}

/** Behind a name, or the one that it has besides; -1: there is none. */
function commaBehind(wordAt: WordAt, last: number | undefined): number {
  if (last === undefined) return -1;
  if (wordAt(last + 1) === ",") return last + 1;
  const behind = wordAt(last + 1) === "as" ? last + 3 : last + 2;
  return wordAt(behind) === "," ? behind : -1;
}

/** A name and what stands before it, from `first` on. */
interface Named {
  readonly first: number;
  readonly name: number;
  /** Behind the parenthesis of `only (`. */
  readonly inner: number;
  /** Its last part. */
  readonly last: number;
}

/** `isBefore`: a name stands behind the place, whatever its word is. */
function nameBehind(
  wordAt: WordAt,
  at: number,
  isBefore: boolean,
  closing: ReadonlyMap<number, number>,
): Named | null {
  return isBefore || BEFORE_NAME.has(wordAt(at))
    ? behindWord(wordAt, at, closing)
    : behindCondition(wordAt, at);
}

function behindWord(wordAt: WordAt, at: number, closing: ReadonlyMap<number, number>): Named {
  const name = afterModifiers(wordAt, afterLimit(wordAt, at, closing), wordAt(at));
  return namedAt(wordAt, at + 1, name);
}

/** Behind `if exists`, `if not exists`. */
function behindCondition(wordAt: WordAt, at: number): Named | null {
  const end = afterCondition(wordAt, at);
  return end === at ? null : namedAt(wordAt, at, afterModifiers(wordAt, end, "exists"));
}

function namedAt(wordAt: WordAt, first: number, name: number): Named {
  const isEnclosed = wordAt(name) === "(" && wordAt(name - 1) === "only";
  const inner = isEnclosed ? name + 1 : name;
  return { first, name, inner, last: afterSchemas(wordAt, inner) };
}

function addForms(
  { schemas, modifiers }: { schemas: Set<number>; modifiers: Set<number> },
  wordAt: WordAt,
  { first, name, inner, last }: Named,
): void {
  addPlaces(modifiers, first, name);
  addPlaces(schemas, inner, last);
  if (inner > name && wordAt(last + 1) === ")") modifiers.add(name).add(last + 1);
}

function addPlaces(places: Set<number>, from: number, to: number): void {
  for (let at = from; at < to; at += 1) places.add(at);
}

/** Where the parenthesis ends that begins at a place. */
function closingOf(pieces: readonly Said[]): ReadonlyMap<number, number> {
  const closing = new Map<number, number>();
  const open: number[] = [];
  for (const [at, { word }] of pieces.entries()) {
    if (word === "(") open.push(at);
    const from = word === ")" ? open.pop() : undefined;
    if (from !== undefined) closing.set(from, at);
  }
  return closing;
}

/** Behind `top (5)`, `top 5 percent`, `or ignore`, `@result =`. */
function afterLimit(wordAt: WordAt, at: number, closing: ReadonlyMap<number, number>): number {
  const word = wordAt(at);
  const next = at + 1;
  if (word === "exec" || word === "execute") {
    return wordAt(next) === "@" && wordAt(next + 2) === "=" ? next + 3 : next;
  }
  if (!LIMITED.has(word)) return next;
  if (wordAt(next) === "or" && INSTEAD.has(wordAt(next + 1))) return next + 2;
  if (wordAt(next) !== "top") return next;
  const isNumber = /^\d+$/.test(wordAt(next + 1));
  const end = isNumber ? next + 1 : closing.get(next + 1);
  if (end === undefined) return next;
  return wordAt(end + 1) === "percent" ? end + 2 : end + 1;
}

/** Behind `if exists`, `if not exists` before a name. */
function afterCondition(wordAt: WordAt, at: number): number {
  if (wordAt(at) !== "if") return at;
  const exists = wordAt(at + 1) === "not" ? at + 2 : at + 1;
  return wordAt(exists) === "exists" && wordAt(exists + 1) !== "(" ? exists + 1 : at;
}

/** `word`: what stands before them. */
function afterModifiers(wordAt: WordAt, from: number, word: string): number {
  const isTable = (at: number): boolean =>
    wordAt(at) === "table" && (word === "into" || word === "on") && NAME.test(wordAt(at + 1));
  let at = from;
  while (MODIFIERS.has(wordAt(at)) || isTable(at)) at += 1;
  // `on object::users` of SQL Server.
  const isOfKind = word === "on" && wordAt(at + 1) === ":" && wordAt(at + 2) === ":";
  return isOfKind ? at + 3 : at;
}

function addLink(
  links: Map<number, string>,
  wordAt: WordAt,
  { verb, name }: { readonly verb: string; readonly name: number },
): void {
  const link = LINKS.get(verb);
  const behind = wordAt(name);
  if (link !== undefined && behind !== link && NAME.test(behind)) links.set(name, link);
}

/** Up to the last part of the name: `db.dbo.users`, `db..users`. */
function afterSchemas(wordAt: WordAt, from: number): number {
  let at = from;
  while (wordAt(at + 1) === ".") {
    at += 2;
    while (wordAt(at) === ".") at += 1;
  }
  return at;
}
