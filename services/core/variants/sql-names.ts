/** What a statement may say around a name that changes nothing of what it does: schemas, `only`, `low_priority`, `top (5)`. */

/** A piece of a statement, in small letters; of a name in quotes `"`. */
interface Said {
  readonly word: string;
}

const words = (text: string): ReadonlySet<string> => new Set(text.split(" "));

/** They may have words of their own before the name that they are about, or before `from` and `into`. */
const VERBS = words("delete update insert replace truncate");
/** A name stands behind them, or behind a modifier. */
const BEFORE_NAME = words(
  "from into update truncate table join copy exists view index sequence function procedure trigger type",
);
const MODIFIERS = words("only low_priority high_priority delayed quick ignore");

/** The places of pieces that may be left out. Linear in the pieces. */
export function leftOut(pieces: readonly Said[]): ReadonlySet<number> {
  const found = new Set<number>();
  const wordAt = (at: number): string => pieces[at]?.word ?? "";
  for (let begin = 0; begin < pieces.length; ) {
    const word = wordAt(begin);
    const isBeforeName = BEFORE_NAME.has(word);
    const first = begin + 1;
    const behind =
      VERBS.has(word) || isBeforeName ? afterModifiers(wordAt, afterTop(wordAt, first)) : first;
    const end = isBeforeName ? afterSchemas(wordAt, behind) : behind;
    for (let at = first; at < end; at += 1) found.add(at);
    // What is left out is looked at once.
    begin = end;
  }
  return found;
}

type WordAt = (at: number) => string;

/** `top (5)`, `top 5`. */
function afterTop(wordAt: WordAt, at: number): number {
  if (wordAt(at) !== "top") return at;
  const isNumber = (place: number): boolean => /^\d+$/.test(wordAt(place));
  if (isNumber(at + 1)) return at + 2;
  return wordAt(at + 1) === "(" && isNumber(at + 2) && wordAt(at + 3) === ")" ? at + 4 : at;
}

function afterModifiers(wordAt: WordAt, from: number): number {
  let at = from;
  while (MODIFIERS.has(wordAt(at))) at += 1;
  return at;
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
