/**
 * What bash makes of braces in a word: `a{b,c}` is `ab ac`, and `{1..3}` three words. Other shells leave them as they are.
 * Words come with marks, as quotes decide what a brace is: behind NUL, which no line has, stands a brace or comma without
 * quotes, or `o` where an expansion or a glob begins.
 */
import type { ShellWord } from "./shell-line.ts";

const MARK = "\0";
export const OPEN_MARK = `${MARK}o`;
const BEGIN = `${MARK}{`;

/** Braces without quotes in one word, words that one becomes, and characters of these: more are not read. */
const BRACES_MAX = 64;
const WORDS_MAX = 256;
const CHARACTERS_MAX = 65_536;

export function markBrace(sign: string): string {
  return MARK + sign;
}

/** The words; null: they are too many. One word where its braces are none that bash expands. */
export function expandBraces(marked: string): readonly string[] | null {
  if (marked.split(BEGIN, BRACES_MAX + 2).length > BRACES_MAX + 1) return null;
  return expand(marked);
}

function expand(marked: string): readonly string[] | null {
  let done: readonly string[] = [""];
  for (let at = 0; at < marked.length; ) {
    const found = firstBraces(marked, at);
    const plain = marked.slice(at, found?.from);
    const parts = found === null ? [] : alternatives(marked.slice(found.from + 2, found.to));
    if (parts === null) return null;
    const next = joined(done, plain, found === null ? [""] : parts);
    if (next === null) return null;
    done = next;
    at = found === null ? marked.length : found.to + 2;
  }
  return done;
}

/** Null: too many. */
function joined(
  before: readonly string[],
  plain: string,
  parts: readonly string[],
): readonly string[] | null {
  if (before.length * parts.length > WORDS_MAX) return null;
  const all = before.flatMap((one) => parts.map((part) => one + plain + part));
  const length = all.reduce((sum, one) => sum + one.length, 0);
  return length > CHARACTERS_MAX ? null : all;
}

/** The first braces that have an end, and a comma or two dots between them. */
function firstBraces(marked: string, start: number): { from: number; to: number } | null {
  for (let from = marked.indexOf(BEGIN, start); from >= 0; from = marked.indexOf(BEGIN, from + 2)) {
    const { to, hasComma } = endOf(marked, from);
    if (to < 0) continue;
    if (hasComma || SEQUENCE.test(marked.slice(from + 2, to))) return { from, to };
  }
  return null;
}

function endOf(marked: string, from: number): { to: number; hasComma: boolean } {
  let depth = 0;
  let hasComma = false;
  for (let at = from; at >= 0; at = marked.indexOf(MARK, at + 2)) {
    const sign = marked.charAt(at + 1);
    if (sign === "{") depth += 1;
    else if (sign === "," && depth === 1) hasComma = true;
    else if (sign === "}") {
      depth -= 1;
      if (depth === 0) return { to: at, hasComma };
    }
  }
  return { to: -1, hasComma };
}

/** Null: too many. */
function alternatives(inside: string): readonly string[] | null {
  const sequence = SEQUENCE.exec(inside);
  if (sequence !== null) return elements(inside.split(".."));
  const all: string[] = [];
  for (const part of splitAtCommas(inside)) {
    const words = expand(part);
    if (words === null || all.length + words.length > WORDS_MAX) return null;
    all.push(...words);
  }
  return all;
}

function splitAtCommas(inside: string): readonly string[] {
  const parts: string[] = [];
  let depth = 0;
  let from = 0;
  for (let at = inside.indexOf(MARK); at >= 0; at = inside.indexOf(MARK, at + 2)) {
    const sign = inside.charAt(at + 1);
    if (sign === "{") depth += 1;
    else if (sign === "}") depth -= 1;
    else if (sign === "," && depth === 0) {
      parts.push(inside.slice(from, at));
      from = at + 2;
    }
  }
  return [...parts, inside.slice(from)];
}

const SEQUENCE = /^(?:[A-Za-z]\.\.[A-Za-z]|[-+]?\d+\.\.[-+]?\d+)(?:\.\.[-+]?\d+)?$/;

/** Of a long sequence its elements are not seen: they are letters or numbers. */
function elements([first = "", last = "", by = "1"]: readonly string[]): readonly string[] {
  const isLetters = /[A-Za-z]/.test(first);
  const numberOf = (text: string): number => (isLetters ? text.charCodeAt(0) : Number(text));
  const [from, to, step] = [numberOf(first), numberOf(last), Math.abs(Number(by)) || 1];
  const count = Math.floor(Math.abs(to - from) / step) + 1;
  if (count > WORDS_MAX) return [OPEN_MARK];
  const sign = to < from ? -1 : 1;
  const values = Array.from({ length: count }, (_, at) => from + sign * step * at);
  return isLetters
    ? values.map((value) => String.fromCharCode(value))
    : values.map(padder(first, last));
}

/** Where one end begins with zeros, all numbers have as many digits. */
function padder(first: string, last: string): (value: number) => string {
  const isPadded = [first, last].some((text) => /^[-+]?0\d/.test(text));
  const width = isPadded ? Math.max(first.length, last.length) : 0;
  return (value) => {
    const digits = String(Math.abs(value));
    return value < 0 ? `-${digits.padStart(width - 1, "0")}` : digits.padStart(width, "0");
  };
}

/** A word that came out of braces; `word`: the one with the braces. */
export function unmarked(
  marked: string,
  { splits, streams, isBare = false }: ShellWord,
): ShellWord {
  const open = marked.includes(OPEN_MARK);
  const text = marked.replaceAll(OPEN_MARK, "").replaceAll(MARK, "");
  const startsOpen = marked.startsWith(OPEN_MARK);
  return { text, open, startsOpen, splits: open && splits, streams: open && streams, isBare };
}
