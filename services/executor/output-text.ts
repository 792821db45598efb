/**
 * Outputs as text, and back as they were returned. Text stays text, so that patterns, paths and
 * people see what the tool gave; anything else becomes JSON. The one ambiguous case, a text that
 * is itself JSON, is marked by a line feed after it: JSON made here never ends in one.
 */
export type OutputText = {
  /** Null: there was no output (`undefined`). */
  readonly text: string | null;
  /** False: `valueOfText` gives something else (dates, maps, what JSON has no form for). */
  readonly faithful: boolean;
};

const DEPTH_MAX = 100;
const HALF_A_PAIR = /\p{Surrogate}/u;

/** Total: what JSON has no form for becomes a short text that says so. */
export function textOfValue(value: unknown): OutputText {
  if (value === undefined) return { text: null, faithful: true };
  if (typeof value === "string") {
    // Half a surrogate pair has no UTF-8 form: what is written is not what comes back.
    const faithful = !HALF_A_PAIR.test(value);
    return { text: isJson(value) ? `${value}\n` : value, faithful };
  }
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch {
    text = undefined;
  }
  if (text === undefined) return { text: `[${typeof value} without a JSON form]`, faithful: false };
  return { text, faithful: isPlainData(value, 0) };
}

/** What `textOfValue` was given. */
export function valueOfText(text: string): unknown {
  if (text.endsWith("\n")) {
    const before = text.slice(0, -1);
    if (isJson(before)) return before;
  }
  const read = parsed(text);
  return read === undefined ? text : read.value;
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

/** Whether JSON gives back the same: no dates, no maps, no `undefined`, no NaN, no accessors' magic. */
function isPlainData(value: unknown, depth: number): boolean {
  if (value === null || typeof value === "string" || typeof value === "boolean") return true;
  if (typeof value === "number") return Number.isFinite(value) && !Object.is(value, -0);
  if (typeof value !== "object" || depth > DEPTH_MAX) return false;
  if (Array.isArray(value)) return value.every((item) => isPlainData(item, depth + 1));
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return false;
  if (typeof Reflect.get(value, "toJSON") === "function") return false;
  return Object.values(value).every((item) => item === undefined || isPlainData(item, depth + 1));
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

export function utf8Length(text: string): number {
  return encoder.encode(text).length;
}

/** The beginning of a text in at most `bytesMax` bytes of UTF-8, no character cut in two. */
export function cutToBytes(text: string, bytesMax: number): string {
  if (text.length * 3 <= bytesMax) return text;
  const bytes = encoder.encode(text);
  if (bytes.length <= bytesMax) return text;
  let end = bytesMax;
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return decoder.decode(bytes.subarray(0, end));
}
