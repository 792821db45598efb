/**
 * Masks what an output repeats of the call's own arguments: a text in quotes, and a number as the JSON member
 * of the same name. An answer to another question is no news where nothing else in it differs.
 */

/** Values of the arguments that are looked for; those beyond are not. */
const VALUES_MAX = 16;

/** Characters of a text value; shorter ones are too often part of an answer. */
const TEXT_MIN = 3;

const QUOTES = `["'\`“”‘’]`;

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
  for (const { value, pattern, sign } of listEchoes(said)) {
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
  return listEchoes(said).flatMap(({ pattern }) => {
    const [part] = new RegExp(pattern).exec(text) ?? [];
    return part === undefined ? [] : [{ name: "repeated argument", part }];
  });
}

/** The text without what `maskEchoes` has masked. */
export function withoutEchoes(masked: string): string {
  return masked.replace(MARKED, "");
}

/** The longest first: a value may be part of another. */
function listEchoes(said: string): readonly Echo[] {
  const echoes: Echo[] = [];
  JSON.parse(said, (name, value: unknown) => {
    const echo = echoOf(name, value);
    if (echo !== null && echoes.length < VALUES_MAX) echoes.push(echo);
    return value;
  });
  return echoes.sort((a, b) => b.value.length - a.value.length);
}

function echoOf(name: string, argument: unknown): Echo | null {
  const sign = `${MARK}${name}${MARK}`;
  if (typeof argument === "number") {
    const value = String(argument);
    const member = escaped(JSON.stringify(name));
    return { value, sign, pattern: `${member}\\s*:\\s*${escaped(value)}(?![\\d.eE])` };
  }
  if (typeof argument !== "string" || argument.length < TEXT_MIN) return null;
  const value = JSON.stringify(argument).slice(1, -1);
  return { value, sign, pattern: `${QUOTES}${escaped(value)}${QUOTES}` };
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
}
