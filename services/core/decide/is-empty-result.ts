/**
 * Whether an output is a result with nothing in it: JSON of which every list is empty, and there is one. Beside
 * it may stand what says how the list was asked for: numbers that are 0 or count pages and rows, truth values,
 * and texts that repeat the arguments. An empty result is no news, whatever was asked.
 */
import type { JsonObject, JsonValue } from "../canonical/json-value.ts";
import { parseCanonical } from "../canonical/parse-canonical.ts";
import { sha256Hex } from "../hash.ts";
import { isObject } from "../policy/argument-path.ts";

/** Stands for the digest of every empty result. */
export const EMPTY_DIGEST = sha256Hex("callgate.empty.v1");

/** Longer outputs are not read: what is empty is short. */
const CHARACTERS_MAX = 400;

/** Names of numbers that say where in the list a page is. */
const COUNTS = /page|total|count|limit|offset|size/i;

/** Members that are left out of comparisons by their names, as in the masks of volatile parts. */
const VOLATILE =
  /^(?:took|elapsed|duration|latency)|_(?:ms|s|at)$|(?:request|search|query|history)_?id$|^(?:trace|etag)$/i;

/** `said`: the arguments as JSON text. */
export function isEmptyResult(output: string, said: string): boolean {
  if (output.length > CHARACTERS_MAX || !/\[ ?\]/.test(output)) return false;
  const parsed = parseCanonical(output);
  if (!parsed.ok) return false;
  return Array.isArray(parsed.value) ? parsed.value.length === 0 : holdsNothing(parsed.value, said);
}

function holdsNothing(value: JsonValue, said: string): boolean {
  return isObject(value) && listMembers(value).every(([name, one]) => isNothing(name, one, said));
}

function listMembers(value: JsonObject): readonly (readonly [string, JsonValue])[] {
  return Object.entries(value).filter(([name]) => !VOLATILE.test(name));
}

function isNothing(name: string, value: JsonValue, said: string): boolean {
  if (Array.isArray(value)) return value.length === 0;
  if (typeof value === "number") return value === 0 || COUNTS.test(name);
  if (typeof value === "string") return said.includes(JSON.stringify(value));
  return typeof value !== "object" || value === null || holdsNothing(value, said);
}
