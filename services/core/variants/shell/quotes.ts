/** Texts in single quotes, and in `$'…'` of bash, where a backslash and what follows it stand for a character. */

/** What stands in the quotes, decoded, and where the line goes on behind them. */
export interface Quoted {
  readonly text: string;
  readonly end: number;
}

/** Null: it does not end. */
export function singleQuotedAt(line: string, at: number): Quoted | null {
  const end = line.indexOf("'", at + 1);
  return end < 0 ? null : { text: line.slice(at + 1, end), end: end + 1 };
}

/** A backslash with all that belongs to it, or any other characters. */
const PIECE = /\\(?:x[\da-fA-F]{1,2}|u[\da-fA-F]{1,4}|U[\da-fA-F]{1,8}|[0-7]{1,3}|[\s\S])|[^\\']+/y;

const LETTERS: Readonly<Record<string, string>> = {
  a: "\x07",
  b: "\b",
  e: "\x1b",
  E: "\x1b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
  "\\": "\\",
  '"': '"',
  "?": "?",
};

/**
 * `at`: the dollar. Null: it does not end, or what it is differs: other shells end it at a quote behind a backslash, NUL ends the
 * text, bytes beyond ASCII are parts of characters, and `\c`, `\x` and `\u` without digits have readings of their own.
 */
export function ansiQuotedAt(line: string, at: number): Quoted | null {
  let text = "";
  let next = at + 2;
  while (line.charAt(next) !== "'") {
    PIECE.lastIndex = next;
    const [piece] = PIECE.exec(line) ?? [];
    const decoded = piece === undefined ? null : decode(piece);
    if (piece === undefined || decoded === null) return null;
    text += decoded;
    next += piece.length;
  }
  return { text, end: next + 1 };
}

function decode(piece: string): string | null {
  if (!piece.startsWith("\\")) return piece;
  const letter = piece.charAt(1);
  if (piece.length > 2) return ofCode(letter, piece.slice(2));
  if (/[0-7]/.test(letter)) return ofCode(letter, "");
  if (/[cxuU']/.test(letter)) return null;
  // Bash keeps the backslash before a letter that it does not know.
  return LETTERS[letter] ?? piece;
}

const ASCII_MAX = 0x7f;
const UNICODE_MAX = 0x10ffff;

function ofCode(letter: string, digits: string): string | null {
  const isOctal = /[0-7]/.test(letter);
  const code = isOctal ? Number.parseInt(letter + digits, 8) : Number.parseInt(digits, 16);
  const most = isOctal || letter === "x" ? ASCII_MAX : UNICODE_MAX;
  const isHalf = code >= 0xd800 && code <= 0xdfff;
  return code === 0 || code > most || isHalf ? null : String.fromCodePoint(code);
}
