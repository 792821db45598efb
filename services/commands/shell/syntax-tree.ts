/**
 * The one file that uses `unbash`, the parser of shell text. It bounds the parser's input (length,
 * openings that may nest) and treats every complaint of the parser as "not read".
 */
import { type ParsedScript, parse } from "unbash";

export type {
  Assignment,
  Command,
  CompoundList,
  HereDoc,
  Pipeline,
  Redirect,
  Redirection,
  Statement,
  Word,
  WordPart,
} from "unbash";

/** The syntax tree of a line, or why there is none. */
export type SyntaxTree =
  | { readonly kind: "tree"; readonly script: ParsedScript }
  | { readonly kind: "unclear"; readonly reason: string };

const LENGTH_MAX = 65_536;

/**
 * Openings for which the parser calls itself: its time grows with the square of their depth, and it
 * overflows the stack at 2,000 of `"$(`.
 */
const OPENINGS = /[$<>]\(|\$\{|\$\[|`/g;
const OPENINGS_MAX = 500;

/** Here-documents. The parser searches the rest of the text for the end of each, if it has none. */
const DOCUMENTS = /<<-?[ \t]*["'\\\w]/g;
const DOCUMENTS_MAX = 200;

/**
 * White space and signs, with which the parser's work grows. Here-documents hold data with many of
 * them.
 */
const PIECES = /[;&|(){}<>$[\]]|\s+/g;
const PIECES_MAX = 6_000;
const PIECES_WITH_DATA_MAX = 16_000;

const NOT_TEXT = /\0|\p{Surrogate}/u;

/** Parses `text` as Bash does. Never throws; text that Bash would refuse is unclear. */
export function parseTree(text: string): SyntaxTree {
  if (text.length > LENGTH_MAX) return unclear(`the line is longer than ${LENGTH_MAX} characters`);
  if (NOT_TEXT.test(text)) return unclear("the line holds a NUL or half a character");
  if (hasMore(text, OPENINGS, OPENINGS_MAX)) return unclear("the line has too many expansions");
  if (hasMore(text, DOCUMENTS, DOCUMENTS_MAX))
    return unclear("the line has too many here-documents");
  if (hasMore(text, PIECES, text.includes("<<") ? PIECES_WITH_DATA_MAX : PIECES_MAX))
    return unclear("the line has too many words");
  try {
    const script = parse(text);
    const [error] = script.errors ?? [];
    if (error === undefined) return { kind: "tree", script };
    return unclear(`a shell cannot read it at character ${error.pos + 1}: ${error.message}`);
  } catch {
    return unclear("the line is nested too deeply");
  }
}

function unclear(reason: string): SyntaxTree {
  return { kind: "unclear", reason };
}

function hasMore(text: string, pattern: RegExp, max: number): boolean {
  return text.length > max && (text.match(pattern)?.length ?? 0) > max;
}
