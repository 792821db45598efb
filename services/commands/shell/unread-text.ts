/**
 * Checks that a syntax tree accounts for the whole of its text. The parser leaves some text out of
 * the tree without an error (`ls (`). The text between the words is therefore read a second time
 * here, and must consist of the operators that the tree has.
 */

/** An operator of the tree, or the span of a word or a redirection. */
export type Token =
  | { readonly kind: "operator"; readonly text: string }
  | { readonly kind: "word" | "redirection"; readonly pos: number; readonly end: number };

export interface Span {
  readonly pos: number;
  readonly end: number;
}

/** A comment begins a word, and an escaped line end does not begin one. */
const COMMENT = /(?<=[ \t\n;|&(){}])(?<!\\\n)#[^\n]*/g;
const ONLY_OPERATOR = /^ ?(&&|\|\||\||;) ?$/;
const OPERATOR = /\|&|\|\||&&|[|;(){}\n]/g;

/**
 * The first position of `text` that neither `tokens` nor `documents` (the bodies of here-documents
 * with their last lines) account for; null: there is none. Both lists are in the order of the text.
 */
export function findUnreadText(
  text: string,
  tokens: readonly Token[],
  documents: readonly Span[],
): number | null {
  const end: Token = { kind: "redirection", pos: text.length, end: text.length };
  const reader = new GapReader(text, documents);
  let before: Token | null = null;
  let expected = "";
  for (const token of [...tokens, end]) {
    if (token.kind === "operator") {
      expected += ` ${token.text}`;
      continue;
    }
    const start = reader.at;
    const gap = reader.readGap(token);
    if (gap === null) return reader.at;
    const joins = before?.kind === "word" && joinsWord(text, start, gap, token, token === end);
    if (joins || readOperators(gap, before !== null, token === end) !== expected) return start;
    before = token;
    expected = "";
  }
  return null;
}

/** Reads the text between spans, in order, without the bodies of here-documents. */
class GapReader {
  /** The position up to which the text is read. */
  at = 0;
  readonly #text: string;
  readonly #documents: readonly Span[];
  #next = 0;

  constructor(text: string, documents: readonly Span[]) {
    this.#text = text;
    this.#documents = documents;
  }

  /** The text before `span`, which is read too; null: `span` or a document begins too early. */
  readGap(span: Span): string | null {
    let gap = "";
    for (let body = this.#documents[this.#next]; body !== undefined && body.pos < span.pos; ) {
      if (body.pos < this.at) return null;
      gap += this.#text.slice(this.at, body.pos);
      this.at = body.end;
      body = this.#documents[++this.#next];
    }
    if (span.pos < this.at) return null;
    gap += this.#text.slice(this.at, span.pos);
    this.at = span.end;
    return gap;
  }
}

/**
 * True if Bash joins `token` to the word that ends at `start`: nothing lies between them but
 * continued lines, which Bash joins first (`1\` before `> f` is the descriptor of a redirection).
 */
function joinsWord(text: string, start: number, gap: string, token: Token, isEnd: boolean) {
  const seam = `${text.slice(Math.max(start - 2, 0), start) === "\\\n" ? "\\\n" : ""}${gap}`;
  const mayJoin = token.kind === "word" || (seam !== "" && !isEnd);
  return mayJoin && seam.replaceAll("\\\n", "") === "";
}

/** The operators in the text between two words; null where there is other text. */
function readOperators(gap: string, followsWord: boolean, isLast: boolean): string | null {
  if (gap === " ") return "";
  const only = followsWord && !isLast ? ONLY_OPERATOR.exec(gap)?.[1] : undefined;
  if (only !== undefined) return ` ${only}`;
  const text = `${followsWord ? "w" : "\n"}${gap}`.replace(COMMENT, "").replaceAll("\\\n", "");
  if (/[^ \t]/.test(text.slice(1).replace(OPERATOR, ""))) return null;
  const operators = [text.charAt(0), ...(text.slice(1).match(OPERATOR) ?? [])].join(" ");
  if (/(?<![w)}]) ;/.test(operators)) return null;
  // A newline is a semicolon where a command may end. A last semicolon joins nothing.
  return operators
    .replace(/([w)}]) \n/g, "$1 ;")
    .replace(/ ?\n/g, "")
    .replace(isLast ? / ;(?= [)}]|$)/g : / ;(?= [)}])/g, "")
    .replace(/^w/, "");
}
