/** Of which programs a rule can be about, by how the texts begin that it fits. */
import type { VariantRule } from "./document.ts";

/**
 * Whether the rule can fit a command of a program, or of a group as `docker compose`, whatever follows its name; true also where that cannot be told: a
 * rule that is left out would let a command pass that it is about.
 */
export function compileCanFit({ match, equals, like }: VariantRule): (program: string) => boolean {
  const ofMatch = match === undefined ? null : beginningsOf(match);
  const ofLike = like?.split("|").map((glob) => glob.trim().split("*", 1)[0] ?? "");
  // A text must fit all that the rule says.
  const asked = [ofMatch, equals, ofLike].filter((one) => one !== null && one !== undefined);
  return (program) => {
    const begun = `${program} `;
    const fits = (one: string): boolean => begun.startsWith(one) || one.startsWith(begun);
    return asked.every((beginnings) => beginnings.some(fits));
  };
}

/** What is read further than a beginning: groups that say how they are meant, and texts in quotes. */
const UNTOLD = /\(\?(?!:)|\\Q/;

/** Classes whose end is not the first bracket: `[]a]`, `[[:alpha:]]`. */
const ODD_CLASS = /^\[(?:\^?\]|.*\[:)/s;

/** How the texts begin that a pattern fits; null: it is not told. */
function beginningsOf(pattern: string): readonly string[] | null {
  const tokens = [...pattern.matchAll(TOKEN)].map(([token]) => token);
  if (UNTOLD.test(pattern) || tokens.some((token) => ODD_CLASS.test(token))) return null;
  const found: string[] = [];
  for (const [first, ...rest] of alternativesOf(tokens)) {
    if (first !== "^") return null;
    found.push(...ofSequence(rest).map(({ text }) => text));
  }
  return found;
}

/** An escaped character, a class, or a character. */
const TOKEN = /\\.|\[(?:\\.|[^\]\\])*\]|./gs;

/** What stands between the bars that are in no group. */
function alternativesOf(tokens: readonly string[]): readonly (readonly string[])[] {
  const found: string[][] = [[]];
  let depth = 0;
  for (const token of tokens) {
    if (token === "(") depth += 1;
    if (token === ")") depth -= 1;
    if (token === "|" && depth === 0) found.push([]);
    else found.at(-1)?.push(token);
  }
  return found;
}

interface Beginning {
  readonly text: string;
  /** What follows it is not told. */
  readonly ends: boolean;
}

const NOTHING: Beginning = { text: "", ends: false };
const UNKNOWN: Beginning = { text: "", ends: true };

/** More of one pattern are not told apart: what they have in common counts. */
const BEGINNINGS_MAX = 8_192;

/** Literal characters, and groups of texts to choose from or to leave out; all else ends it. */
function ofSequence(tokens: readonly string[]): readonly Beginning[] {
  let found: readonly Beginning[] = [NOTHING];
  for (let at = 0; at < tokens.length && found.some(({ ends }) => !ends); ) {
    const end = tokens[at] === "(" ? endOfGroup(tokens, at) : at;
    const parts = repeated(ofItem(tokens.slice(at, end + 1)), tokens[end + 1] ?? "");
    if (found.length * parts.length > BEGINNINGS_MAX) return found.map(cut);
    found = found.flatMap((one) => (one.ends ? [one] : parts.map((part) => behind(one, part))));
    at = end + (QUANTIFIER.test(tokens[end + 1] ?? "") ? 2 : 1);
  }
  return found;
}

function cut({ text }: Beginning): Beginning {
  return { text, ends: true };
}

function behind({ text }: Beginning, next: Beginning): Beginning {
  return { text: text + next.text, ends: next.ends };
}

const LITERAL = /^[\w\s/@:=,-]$/;
const QUANTIFIER = /^[*?+{]$/;

/** A character, a group, or what is not told. */
function ofItem(tokens: readonly string[]): readonly Beginning[] {
  const [first = "", ...rest] = tokens;
  if (first !== "(") return [LITERAL.test(first) ? { text: first, ends: false } : UNKNOWN];
  const isPlain = rest[0] === "?" && rest[1] === ":";
  const inside = rest.slice(isPlain ? 2 : 0, -1);
  return alternativesOf(inside).flatMap(ofSequence);
}

/** It may be left out, or stand there more than once: what comes then is not told. */
function repeated(parts: readonly Beginning[], quantifier: string): readonly Beginning[] {
  if (quantifier === "?") return [...parts, NOTHING];
  if (quantifier === "+") return parts.map(cut);
  return QUANTIFIER.test(quantifier) ? [UNKNOWN] : parts;
}

/** Where the bracket stands that closes it, or the end. */
function endOfGroup(tokens: readonly string[], from: number): number {
  let depth = 0;
  for (let at = from; at < tokens.length; at += 1) {
    if (tokens[at] === "(") depth += 1;
    if (tokens[at] === ")") depth -= 1;
    if (depth === 0) return at;
  }
  return tokens.length;
}
