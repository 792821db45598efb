/** Tokens of an SQL text, as different servers read them. */

export interface Token {
  /** `name` is quoted: by double quotes (a string for some servers), backticks or brackets. */
  readonly kind: "word" | "name" | "text" | "number" | "sign";
  /** The text as written. */
  readonly text: string;
  /** The word in lower case; "" for any other kind. */
  readonly word: string;
  /** For a word, a name or a text: what it may name, in lower case and without quotes. */
  readonly name: string;
  /** Whether white space or comments precede it. */
  readonly spaced: boolean;
}

/**
 * Servers differ in what is a comment and what a quote, so a text is read in each way that could
 * differ.
 */
export function readTokens(text: string): readonly (readonly Token[])[] | null {
  const readings = [tokensOf(text, STANDARD)];
  if (/[#$]|--\S/.test(text)) readings.push(tokensOf(text, MYSQL));
  if (text.includes("[")) readings.push(tokensOf(text, BRACKETS));
  return readings.every((reading) => reading !== null) ? readings : null;
}

/**
 * Optimizer hints and comments that MySQL executes are no comments; nested comments are not
 * understood.
 */
const COMMENT = String.raw`\/\*(?!M?[!+])(?:[^*/]|\*(?!\/)|\/(?!\*))*\*\/`;
/**
 * A quote that ends at one position, whether or not a backslash makes the next letter part of it.
 */
const quote = (mark: string) =>
  `${mark}(?:[^${mark}\\\\]|${mark}${mark}|\\\\[^${mark}])*${mark}(?!${mark})`;
const TEXT = quote("'");
const NAMES = `${quote('"')}|${quote("`")}`;
/**
 * Not understood: strings of Oracle that end at a letter of their own, and texts with codes for
 * letters.
 */
const CODED = "(?![nN]?[qQ]'|[uU]&['\"])";
/** A sign, but no backslash, no `:=`, which assigns, and no beginning of a comment. */
const SIGN = String.raw`\/(?!\*)|:(?!=)|[!#%&()*+,\-.;<=>?@^{|}~]`;

interface Shape {
  readonly comment: string;
  readonly text: string;
  readonly name: string;
  readonly letter: string;
  readonly sign: string;
}

/**
 * Brackets quote a name where they could be nothing else; elsewhere they hold an index or a list.
 */
const STANDARD = dialect({
  comment: "--[^\\n]*",
  text: String.raw`${TEXT}|\$(\w*)\$[^]*?\$\2\$`,
  name: String.raw`${NAMES}|\[[^\][;'"()]*\]`,
  letter: "A-Za-z_",
  sign: String.raw`\$(?!\w*\$)|[[\]]|${SIGN}`,
});

/** Two hyphens begin a comment only before white space; a dollar is a letter. */
const MYSQL = dialect({
  comment: String.raw`--(?=\s|$)[^\n]*|#[^\n]*`,
  text: TEXT,
  name: NAMES,
  letter: "A-Za-z_$",
  sign: String.raw`[[\]]|${SIGN}`,
});

/** Brackets always quote a name. */
const BRACKETS = dialect({
  comment: "--[^\\n]*",
  text: TEXT,
  name: String.raw`${NAMES}|\[(?:[^\]]|\]\])*\](?!\])`,
  letter: "A-Za-z_",
  sign: String.raw`\$|${SIGN}`,
});

interface Dialect {
  /**
   * Source of a sticky expression: a match is one token with the white space and comments before
   * it; the token is its only group.
   */
  readonly token: string;
  readonly word: RegExp;
}

function dialect({ comment, text, name, letter, sign }: Shape): Dialect {
  const blank = String.raw`(?:[ \t\n\r\f]+|${comment}|${COMMENT})*`;
  const first = `[${letter}\\u0080-\\uffff]`;
  const word = String.raw`${CODED}${first}[\w$\u0080-\uffff]*`;
  return {
    token: `${blank}(?:(${text}|${name}|${word}|\\d+|${sign})|$)`,
    word: new RegExp(`^${first}`),
  };
}

/** White space for some servers, letters for others. */
const ODD_SPACE = /[\u0085\u00a0\u1680\u2000-\u200b\u2028\u2029\u202f\u205f\u3000\ufeff]/;

/** Null: the text has something that is not understood. */
function tokensOf(text: string, dialect: Dialect): readonly Token[] | null {
  const tokens: Token[] = [];
  let end = 0;
  for (const match of text.matchAll(new RegExp(dialect.token, "gy"))) {
    end = match.index + match[0].length;
    const token = match[1];
    if (token !== undefined)
      tokens.push(tokenOf(token, token.length < match[0].length, dialect.word));
  }
  if (end < text.length) return null;
  return ODD_SPACE.test(text) && tokens.some(({ word }) => ODD_SPACE.test(word)) ? null : tokens;
}

function tokenOf(text: string, spaced: boolean, wordStart: RegExp): Token {
  if (wordStart.test(text)) {
    const word = text.toLowerCase();
    return { kind: "word", text, word, name: word, spaced };
  }
  if (text.length > 1 && /^["'`$[]/.test(text)) {
    const kind = /^['$]/.test(text) ? "text" : "name";
    return { kind, text, word: "", name: unquote(text), spaced };
  }
  return { kind: /^\d/.test(text) ? "number" : "sign", text, word: "", name: "", spaced };
}

/** A doubled quote inside is one quote. */
function unquote(text: string): string {
  const close = text.slice(-1);
  const inner = text.slice(1, -1);
  return (inner.includes(close) ? inner.replaceAll(close + close, close) : inner).toLowerCase();
}
