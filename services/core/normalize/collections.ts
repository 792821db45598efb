/** Normalizers of booleans, lists and JSON inside text. */
import { canonicalText } from "../canonical/canonical-text.ts";
import type { JsonValue } from "../canonical/json-value.ts";
import { DEFAULT_CANONICAL_LIMITS } from "../canonical/limits.ts";
import { parseCanonical } from "../canonical/parse-canonical.ts";
import { cannot, kindOf, type MakeNormalizer, type Normalizer, normalized } from "./normalizer.ts";

const TRUE_WORDS: ReadonlySet<string> = new Set(["true", "yes", "on", "y", "t", "1"]);
const FALSE_WORDS: ReadonlySet<string> = new Set(["false", "no", "off", "n", "f", "0"]);

/** true and false, from their usual English spellings in any case, and from 1 and 0. */
export const toBool: Normalizer = (value) => {
  if (typeof value === "boolean") return normalized(value);
  if (typeof value !== "string" && typeof value !== "number") {
    return cannot(`\`to_bool\` needs a boolean, found ${kindOf(value)}`);
  }
  const word = String(value).toLowerCase();
  if (TRUE_WORDS.has(word)) return normalized(true);
  if (FALSE_WORDS.has(word)) return normalized(false);
  return cannot("`to_bool` needs true or false, yes or no, on or off, 1 or 0");
};

/** A list in the order of its items' canonical JSON: for lists whose order means nothing. */
export const sort: Normalizer = (value) => {
  if (!Array.isArray(value)) return cannot(`\`sort\` needs a list, found ${kindOf(value)}`);
  const items = value as readonly JsonValue[];
  const texts = items.map(canonicalText);
  // By UTF-16 code units, like the keys of the canonical form. A sorted list is returned as the
  // same value.
  const isSorted = texts.every((text, at) => at === 0 || (texts[at - 1] as string) <= text);
  if (isSorted) return normalized(value);
  const keyed = items.map((item, at) => [texts[at] as string, item] as const);
  keyed.sort(([a], [b]) => (a < b ? -1 : Number(a > b)));
  return normalized(keyed.map(([, item]) => item));
};

/** A list without items that equal an earlier one. */
export const unique: Normalizer = (value) => {
  if (!Array.isArray(value)) return cannot(`\`unique\` needs a list, found ${kindOf(value)}`);
  if (value.length < 2) return normalized(value);
  const first = new Map<string, JsonValue>();
  for (const item of value as readonly JsonValue[]) {
    const key = canonicalText(item);
    if (!first.has(key)) first.set(key, item);
  }
  return normalized(first.size === value.length ? value : [...first.values()]);
};

/**
 * The JSON value in a text, read as strictly as arguments are; other values are returned unchanged.
 */
export const json: Normalizer = (value) => {
  if (typeof value !== "string") return normalized(value);
  const parsed = parseCanonical(value, DEFAULT_CANONICAL_LIMITS);
  return parsed.ok ? normalized(parsed.value) : cannot("`json` needs text that is JSON");
};

/**
 * Leaves the argument out where it has its default: `omit_if_default(10)`, or the default of the
 * tool's schema where none is written. The written default is JSON, else text.
 */
export const omitIfDefault: MakeNormalizer = (parameters, { schemaDefault }) => {
  const [written] = parameters;
  const value = written === undefined ? schemaDefault : readDefault(written);
  if (value === undefined) {
    const problem =
      "`omit_if_default` has no default: the schema gives none, so write omit_if_default(value)";
    return { ok: false, problem };
  }
  const text = canonicalText(value);
  return (actual) =>
    canonicalText(actual) === text ? { ok: true, omit: true } : normalized(actual);
};

function readDefault(written: string): JsonValue {
  const parsed = parseCanonical(written, DEFAULT_CANONICAL_LIMITS);
  return parsed.ok ? parsed.value : written;
}
