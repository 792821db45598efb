import { kindLostInJson } from "./lost-in-json.ts";

/**
 * Writes outputs as text, and reads them back as they were returned. Text stays text, so that
 * patterns, paths and people see what the tool returned; anything else becomes JSON. Two suffixes
 * keep this unambiguous, because JSON made here never ends in white space: a line feed marks a text
 * that is itself JSON, a space marks JSON that is not all of what was returned.
 */
export type OutputText =
  /** There was no output (`undefined`). */
  | { readonly kind: "none" }
  /** `readOutput` returns exactly what was returned. */
  | { readonly kind: "exact"; readonly text: string }
  /** What people, models and patterns can use of it. It must not pass for the original. */
  | { readonly kind: "near"; readonly text: string }
  /** Nothing can be represented but the kind of the value. */
  | { readonly kind: "lost"; readonly text: string };

const DEPTH_MAX = 100;
const HALF_A_PAIR = /\p{Surrogate}/u;
const TEXT_MARK = "\n";
const NEAR_MARK = " ";

/** Never throws. */
export function writeOutput(value: unknown): OutputText {
  if (value === undefined) return { kind: "none" };
  if (typeof value === "string") {
    const text = isJson(value) ? `${value}${TEXT_MARK}` : value;
    // Half a surrogate pair has no UTF-8 form, so reading back would give another text.
    return { kind: HALF_A_PAIR.test(value) ? "near" : "exact", text };
  }
  const exact = exactJson(value);
  if (exact !== undefined) return { kind: "exact", text: exact };
  const near = nearJson(value);
  if (near !== undefined) return { kind: "near", text: `${near}${NEAR_MARK}` };
  return { kind: "lost", text: `[${typeof value} without a JSON form]` };
}

function exactJson(value: unknown): string | undefined {
  try {
    const text = JSON.stringify(value) as string | undefined;
    return text !== undefined && isPlainData(value, 0) ? text : undefined;
  } catch {
    return undefined;
  }
}

function nearJson(value: unknown): string | undefined {
  try {
    // A placeholder for the whole value would not be an output, but a text made up here.
    if (typeof value === "object" && value !== null && standsFor(value) !== undefined) {
      return undefined;
    }
    return JSON.stringify(value, shown) as string | undefined;
  } catch {
    return undefined;
  }
}

/**
 * A replacer: writes a large number as its digits, and the kind of a value that JSON would empty.
 */
function shown(_key: string, value: unknown): unknown {
  if (typeof value === "bigint") return String(value);
  return typeof value === "object" && value !== null ? (standsFor(value) ?? value) : value;
}

function standsFor(value: object): string | undefined {
  if (typeof Reflect.get(value, "toJSON") === "function") return undefined;
  const kind = kindLostInJson(value);
  if (kind === undefined) return undefined;
  return `[${value instanceof Error ? String(value) : kind}]`;
}

/** Returns the value that was passed to `writeOutput`, if the text was `exact`. */
export function readOutput(text: string): unknown {
  if (text.endsWith(TEXT_MARK)) {
    const before = text.slice(0, -1);
    if (isJson(before)) return before;
  }
  const read = parsed(text);
  return read === undefined ? text : read.value;
}

/**
 * Whether the text is JSON that is not all of what was returned; `readOutput` returns what there
 * is.
 */
export function isNearText(text: string): boolean {
  return text.endsWith(NEAR_MARK) && isJson(text);
}

function isJson(text: string): boolean {
  return parsed(text) !== undefined;
}

function parsed(text: string): { readonly value: unknown } | undefined {
  if (!mayBeJson(text)) return undefined;
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return undefined;
  }
}

const JSON_START = /^[ \t\r\n]*["{[\d\-tfn]/;

/** Spares ordinary text the cost of a thrown error. */
function mayBeJson(text: string): boolean {
  return JSON_START.test(text);
}

/** Whether JSON gives back the same value: no dates, no maps, no NaN, no members that it omits. */
function isPlainData(value: unknown, depth: number): boolean {
  if (value === null || typeof value === "string" || typeof value === "boolean") return true;
  if (typeof value === "number") return Number.isFinite(value) && !Object.is(value, -0);
  if (typeof value !== "object" || depth > DEPTH_MAX) return false;
  if (Array.isArray(value)) {
    return isPlainArray(value) && value.every((item) => isPlainData(item, depth + 1));
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return false;
  if (typeof Reflect.get(value, "toJSON") === "function") return false;
  const members = Object.values(value);
  // A symbol member or a hidden member is a part of the value, too.
  if (Object.getOwnPropertyNames(value).length !== members.length) return false;
  if (Object.getOwnPropertySymbols(value).length > 0) return false;
  return members.every((item) => item === undefined || isPlainData(item, depth + 1));
}

/**
 * Whether the array has only its items: query results carry a count, regular-expression matches an
 * index.
 */
function isPlainArray(value: readonly unknown[]): boolean {
  if (Object.getPrototypeOf(value) !== Array.prototype) return false;
  // Items come first among the keys, then `length`: a hole moves `length` up, and an extra member
  // follows it.
  const keys = Reflect.ownKeys(value);
  return keys.length === value.length + 1 && keys[value.length] === "length";
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

export function utf8Length(text: string): number {
  return encoder.encode(text).length;
}

/**
 * The beginning of a text in at most `bytesMax` bytes of UTF-8, without cutting a character in two.
 */
export function cutToBytes(text: string, bytesMax: number): string {
  if (text.length * 3 <= bytesMax) return text;
  const bytes = encoder.encode(text);
  if (bytes.length <= bytesMax) return text;
  let end = bytesMax;
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return decoder.decode(bytes.subarray(0, end));
}
