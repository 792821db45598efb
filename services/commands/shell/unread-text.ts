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
  let at = 0;
  let read = 0;
  let before: Token | null = null;
  let expected = "";
  for (const token of [...tokens, end]) {
    if (token.kind === "operator") {
      expected += ` ${token.text}`;
      continue;
    }
    const start = at;
    let gap = "";
    for (let body = documents[read]; body !== undefined && body.pos < token.pos; ) {
      if (body.pos < at) return at;
      gap += text.slice(at, body.pos);
      at = body.end;
      body = documents[++read];
    }
    if (token.pos < at) return at;
    gap += text.slice(at, token.pos);
    // Bash joins continued lines first: `1\` before `> f` is the descriptor of a redirection.
    const seam = `${text.slice(Math.max(start - 2, 0), start) === "\\\n" ? "\\\n" : ""}${gap}`;
    const mayJoin = token.kind === "word" || (seam !== "" && token !== end);
    const isGlued = before?.kind === "word" && mayJoin && seam.replaceAll("\\\n", "") === "";
    if (isGlued || readOperators(gap, before !== null, token === end) !== expected) return start;
    at = token.end;
    before = token;
    expected = "";
  }
  return null;
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
