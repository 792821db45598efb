/**
 * Masks what an output repeats of the call's own arguments: a text in quotes, a number as the JSON member
 * of the same name, and a number of three digits or more in a text that is no JSON. An answer to another question is no news where nothing else in it differs.
 */

/** Values of the arguments that are looked for; those beyond are not. */
const VALUES_MAX = 16;

/** Characters of a text value; shorter ones are too often part of an answer. */
const TEXT_MIN = 3;

const QUOTES = `["'\`“”‘’]`;
const QUOTED = new RegExp(QUOTES);

const JSON_TEXT = /^\s*[{[]/;

/** In a text that is no JSON, shorter numbers are too often part of an answer. */
const LONG_NUMBER = /\d{3}/;

/** What JSON writes in another way. */
const ESCAPED = /["\\\p{Cc}\p{Surrogate}]/u;

/** Around the name of the argument in place of its value: values of two arguments stay apart. */
const MARK = "\u0001";

const MARKED = /\u0001[^\u0001]*\u0001/g;

interface Echo {
  /** The value as it stands in JSON text. */
  readonly value: string;
  readonly pattern: string;
  readonly sign: string;
}

/** `said`: the arguments as JSON text. */
export function maskEchoes(text: string, said: string): string {
  let masked = text;
  for (const { value, pattern, sign } of listEchoes(text, said)) {
    if (masked.includes(value)) masked = masked.replace(new RegExp(pattern, "g"), sign);
  }
  return masked;
}

/** A part of an output that is left out of comparisons, and why. */
export interface MaskedPart {
  readonly name: string;
  readonly part: string;
}

/** What `maskEchoes` masks in the text. */
export function listEchoed(text: string, said: string): readonly MaskedPart[] {
  return listEchoes(text, said).flatMap(({ pattern }) => {
    const [part] = new RegExp(pattern).exec(text) ?? [];
    return part === undefined ? [] : [{ name: "repeated argument", part }];
  });
}

/** The text without what `maskEchoes` has masked. */
export function withoutEchoes(masked: string): string {
  return masked.replace(MARKED, "");
}

/** Values of the arguments that may be in the text, the longest first: one may be part of another. */
function listEchoes(text: string, said: string): readonly Echo[] {
  const isJson = JSON_TEXT.test(text);
  if (!QUOTED.test(text) && (isJson || !LONG_NUMBER.test(text))) return [];
  const echoes: Echo[] = [];
  let looked = 0;
  const look = (name: string, value: unknown): void => {
    if (looked >= VALUES_MAX) return;
    if (typeof value === "object" && value !== null) {
      for (const [key, inner] of Object.entries(value)) look(key, inner);
    } else if (isCandidate(value)) {
      looked += 1;
      const echo = echoOf(text, name, value, isJson);
      if (echo !== null) echoes.push(echo);
    }
  };
  look("", JSON.parse(said));
  return echoes.sort((a, b) => b.value.length - a.value.length);
}

function isCandidate(value: unknown): value is string | number {
  return typeof value === "number" || (typeof value === "string" && value.length >= TEXT_MIN);
}

/** Null: the text does not contain the value. */
function echoOf(
  text: string,
  name: string,
  argument: string | number,
  isJson: boolean,
): Echo | null {
  const value =
    typeof argument === "string" && ESCAPED.test(argument)
      ? JSON.stringify(argument).slice(1, -1)
      : String(argument);
  if (!text.includes(value)) return null;
  const sign = `${MARK}${name}${MARK}`;
  if (typeof argument === "string") {
    return { value, sign, pattern: `${QUOTES}${escaped(value)}${QUOTES}` };
  }
  if (!isJson) {
    return LONG_NUMBER.test(value)
      ? { value, sign, pattern: `(?<![\\w.])${escaped(value)}(?![\\w.])` }
      : null;
  }
  const member = escaped(JSON.stringify(name));
  return { value, sign, pattern: `${member}\\s*:\\s*${escaped(value)}(?![\\d.eE])` };
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
}
