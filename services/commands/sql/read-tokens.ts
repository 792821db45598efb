/** The tokens of a text of SQL, as one server or another reads them. */

export interface Token {
  /** `name` is quoted: by double quotes (a string for some servers), backticks or brackets. */
  readonly kind: "word" | "name" | "text" | "number" | "sign";
  /** As it stands in the text. */
  readonly text: string;
  /** Of a word alone, in lower case; else "". */
  readonly word: string;
  /** Of a word, a name or a text: what it may name, in lower case and without quotes. */
  readonly name: string;
  /** Blanks or comments stand before it. */
  readonly spaced: boolean;
}

/** Servers differ in what is a comment and what a quote: a text is read in each way that could differ. */
export function readTokens(text: string): readonly (readonly Token[])[] | null {
  const readings = [tokensOf(text, STANDARD)];
  if (/[#$]|--\S/.test(text)) readings.push(tokensOf(text, MYSQL));
  if (text.includes("[")) readings.push(tokensOf(text, BRACKETS));
  return readings.every((reading) => reading !== null) ? readings : null;
}

/** Optimizer hints and comments that MySQL runs are no comments; comments inside comments are not read. */
const COMMENT = String.raw`\/\*(?!M?[!+])(?:[^*/]|\*(?!\/)|\/(?!\*))*\*\/`;
/** A quote that ends in one place, whether or not a backslash makes the next letter part of it. */
const quote = (mark: string) =>
  `${mark}(?:[^${mark}\\\\]|${mark}${mark}|\\\\[^${mark}])*${mark}(?!${mark})`;
const TEXT = quote("'");
const NAMES = `${quote('"')}|${quote("`")}`;
/** Not read: strings of Oracle that end at a letter of their own, texts with codes for letters. */
const CODED = "(?![nN]?[qQ]'|[uU]&['\"])";
/** Neither a backslash, nor `:=`, which assigns, nor the beginning of a comment. */
const SIGN = String.raw`\/(?!\*)|:(?!=)|[!#%&()*+,\-.;<=>?@^{|}~]`;

interface Shape {
  readonly comment: string;
  readonly text: string;
  readonly name: string;
  readonly letter: string;
  readonly sign: string;
}

/** Brackets are names where they could be nothing else; elsewhere they hold an index or a list. */
const STANDARD = dialect({
  comment: "--[^\\n]*",
  text: String.raw`${TEXT}|\$(?<tag>\w*)\$[^]*?\$\k<tag>\$`,
  name: String.raw`${NAMES}|\[[^\][;'"()]*\]`,
  letter: "A-Za-z_",
  sign: String.raw`\$(?!\w*\$)|[[\]]|${SIGN}`,
});

/** Two hyphens begin a comment before white space alone; a dollar is a letter. */
const MYSQL = dialect({
  comment: String.raw`--(?=\s|$)[^\n]*|#[^\n]*`,
  text: TEXT,
  name: NAMES,
  letter: "A-Za-z_$",
  sign: String.raw`[[\]]|${SIGN}`,
});

/** Whatever stands in brackets is a name. */
const BRACKETS = dialect({
  comment: "--[^\\n]*",
  text: TEXT,
  name: String.raw`${NAMES}|\[(?:[^\]]|\]\])*\](?!\])`,
  letter: "A-Za-z_",
  sign: String.raw`\$|${SIGN}`,
});

function dialect({ comment, text, name, letter, sign }: Shape): RegExp {
  const blank = String.raw`(?<blank>(?:[ \t\n\r\f]+|${comment}|${COMMENT})+)`;
  const word = String.raw`(?<word>${CODED}[${letter}\u0080-\uffff][\w$\u0080-\uffff]*)`;
  const source = `${blank}|(?<text>${text})|(?<name>${name})|${word}|(?<number>\\d+)|${sign}`;
  return new RegExp(source, "gy");
}

/** White space for some servers, letters for others. */
const ODD_SPACE = /[\u0085\u00a0\u1680\u2000-\u200b\u2028\u2029\u202f\u205f\u3000\ufeff]/;

/** Null: something in the text is not understood. */
function tokensOf(text: string, pattern: RegExp): readonly Token[] | null {
  const tokens: Token[] = [];
  let end = 0;
  let spaced = false;
  for (const match of text.matchAll(pattern)) {
    end = match.index + match[0].length;
    const isBlank = match.groups?.["blank"] !== undefined;
    if (!isBlank) tokens.push(tokenOf(match, spaced));
    spaced = isBlank;
  }
  if (end < text.length) return null;
  return tokens.some(({ word }) => ODD_SPACE.test(word)) ? null : tokens;
}

function tokenOf({ 0: text, groups = {} }: RegExpMatchArray, spaced: boolean): Token {
  if (groups["word"] !== undefined) {
    const word = text.toLowerCase();
    return { kind: "word", text, word, name: word, spaced };
  }
  if (groups["number"] !== undefined) return { kind: "number", text, word: "", name: "", spaced };
  const isName = groups["name"] !== undefined;
  if (!isName && groups["text"] === undefined)
    return { kind: "sign", text, word: "", name: "", spaced };
  return { kind: isName ? "name" : "text", text, word: "", name: unquote(text), spaced };
}

/** A doubled quote inside stands for one. */
function unquote(text: string): string {
  const close = text.slice(-1);
  return text
    .slice(1, -1)
    .replaceAll(close + close, close)
    .toLowerCase();
}
