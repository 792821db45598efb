/** The pieces of a text of SQL as one server or another reads them: words, signs, strings and quoted names. */

/** Called as a function in loops: see docs/style.md, "Loops over texts". */
const { charCodeAt } = String.prototype;

export type Token = { readonly word: string; readonly call: boolean };

/** Servers differ in what is a comment and what a quote. */
export function dialectsOf(text: string): readonly Dialect[] {
  const dialects = [STANDARD];
  if (/[#$]|--[^\s]/.test(text)) dialects.push(MYSQL);
  if (text.includes("[")) dialects.push(BRACKETS);
  return dialects;
}

export interface Dialect {
  /** Sticky: white space and comments. One that seems to hold the beginning of another is none. */
  readonly blank: RegExp;
  /** Sticky: strings and quoted names. */
  readonly quoted: RegExp;
  /** What begins a string or name that must end. */
  readonly open: RegExp;
  /** `$tag$ … $tag$` is a string. */
  readonly dollars: boolean;
}

const COMMENT = String.raw`\/\*(?!M?[!+])(?:[^*/]|\*(?!\/)|\/(?!\*))*\*\/`;
const STRINGS = "'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|`[^`]*`";

/** Brackets are names where they could be nothing else: elsewhere they hold an index or a list. */
const STANDARD: Dialect = {
  blank: new RegExp(String.raw`(?:\s+|--[^\n]*|${COMMENT})+`, "y"),
  quoted: new RegExp(String.raw`${STRINGS}|\[[^\]['"()]*\]`, "y"),
  open: /["'`]/,
  dollars: true,
};

/** Two hyphens begin a comment before white space alone; a dollar is a letter. */
const MYSQL: Dialect = {
  blank: new RegExp(String.raw`(?:\s+|--(?=\s|$)[^\n]*|#[^\n]*|${COMMENT})+`, "y"),
  quoted: STANDARD.quoted,
  open: STANDARD.open,
  dollars: false,
};

/** Whatever stands in brackets is a name. */
const BRACKETS: Dialect = {
  blank: STANDARD.blank,
  quoted: new RegExp(String.raw`${STRINGS}|\[(?:[^\]]|\]\])*\]`, "y"),
  open: /["'`[]/,
  dollars: false,
};

/** A quote that ends in the same place where a backslash makes what follows it a letter. */
const ESCAPING = /^(?:'(?:[^'\\]|\\[\s\S]|'')*'|"(?:[^"\\]|\\[\s\S]|"")*"|`(?:[^`\\]|\\[\s\S])*`)$/;

const DOLLAR = /\$(\w*)\$/y;

/** White space of no server, or of some. */
export const ODD_SPACE = /[\u0085\u00a0\u1680\u2000-\u200b\u2028\u2029\u202f\u205f\u3000\ufeff]/;

const ASCII_END = 0x80;

/** Whether a letter is of a class, which all letters beyond ASCII are. */
type LetterTest = (unit: number) => boolean;

function letters(ascii: RegExp): LetterTest {
  const isIn = Array.from({ length: ASCII_END }, (_, unit) =>
    ascii.test(String.fromCharCode(unit)),
  );
  return (unit) => unit >= ASCII_END || isIn[unit] === true;
}

const beginsWord = letters(/[A-Za-z_]/);
export const isOfWord = letters(/[\w$]/);
/** Ends a quoted name, or is a word for itself. */
export const isEdge = letters(/["'`[\]*]/);
/** A letter that may begin more than itself, and no word. */
const isSpecial = letters(/["$'/:[\\`]/);

const DOT = 0x2e;
const EQUALS = 0x3d;
const SEMICOLON = 0x3b;

export type Piece = { readonly end: number; readonly token: Token | null };

export const TEXT: Token = { word: "'", call: false };
const EQUAL: Token = { word: "=", call: false };
export const END: Token = { word: ";", call: false };
const MEMBER: Token = { word: ".", call: false };
const SIGNS = new Map([
  [SEMICOLON, END],
  [EQUALS, EQUAL],
  [DOT, MEMBER],
]);
/** A quoted name that is called. */
export const QUOTED_CALL: Token = { word: '"', call: true };

/** Null as `readSpecial`. */
export function readPiece(text: string, at: number, dialect: Dialect): Piece | null {
  const unit = charCodeAt.call(text, at);
  if (beginsWord(unit)) {
    const end = wordEnd(text, at);
    const word = text.slice(at, end).toLowerCase();
    // Strings of Oracle, which end at a letter of their own, and texts and names with codes for letters.
    if ((word === "q" || word === "nq") && text.charAt(end) === "'") return null;
    if (word === "u" && text.charAt(end) === "&" && /["']/.test(text.charAt(end + 1))) return null;
    return { end, token: { word, call: isCall(text, end, dialect.blank) } };
  }
  if (isSpecial(unit)) return readSpecial(text, at, dialect);
  const isPoint = unit === DOT && /\d/.test(text.charAt(at + 1));
  return { end: at + 1, token: isPoint ? null : (SIGNS.get(unit) ?? null) };
}

function wordEnd(text: string, from: number): number {
  let at = from + 1;
  while (at < text.length && isOfWord(charCodeAt.call(text, at))) at += 1;
  return at;
}

/** Null: what begins here is not understood, or two servers would read it differently. */
function readSpecial(
  text: string,
  at: number,
  { quoted: quotes, blank, open, dollars }: Dialect,
): Piece | null {
  // A comment that some servers run, a quote that a backslash may escape, a variable of the session.
  if (text.startsWith("/*", at) || text.startsWith(":=", at) || text.charAt(at) === "\\")
    return null;
  const quoted = matchAt(quotes, text, at);
  if (quoted !== null) {
    if (quoted.includes("\\") && !ESCAPING.test(quoted)) return null;
    const end = at + quoted.length;
    return { end, token: isCall(text, end, blank) ? QUOTED_CALL : TEXT };
  }
  if (open.test(text.charAt(at))) return null;
  const dollar = dollars ? matchAt(DOLLAR, text, at) : null;
  if (dollar !== null) {
    const close = text.indexOf(dollar, at + dollar.length);
    return close < 0 ? null : { end: close + dollar.length, token: TEXT };
  }
  return { end: at + 1, token: null };
}

function matchAt(pattern: RegExp, text: string, at: number): string | null {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0] ?? null;
}

const SPACE = 0x20;
/** Of ASCII, nothing after the slash begins white space or a comment. */
const SLASH = 0x2f;

export function afterBlank(text: string, from: number, blank: RegExp): number {
  let at = from;
  while (charCodeAt.call(text, at) === SPACE) at += 1;
  const unit = charCodeAt.call(text, at);
  if (unit > SLASH && unit < ASCII_END) return at;
  blank.lastIndex = at;
  return blank.test(text) ? blank.lastIndex : at;
}

function isCall(text: string, at: number, blank: RegExp): boolean {
  return text.charAt(afterBlank(text, at, blank)) === "(";
}
