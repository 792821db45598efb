/**
 * Finds the sensitive values of a call, and replaces them.
 *
 * SENSITIVE-1 a model chooses how it writes its arguments, so everything that could be read as the
 * value is one: literal keys with dots beside members of members, and a list or text where the path
 * expects an object.
 * SENSITIVE-2 null is not replaced: it reveals nothing, and templates distinguish it from a value.
 */
import type { JsonObject, JsonValue } from "../canonical/json-value.ts";
import { isObject } from "../policy/argument-path.ts";

/** A policy's path as member names. */
export type SensitivePath = readonly string[];

export interface SensitiveValue {
  /** Member names from the arguments to the value, each as the arguments spell it. */
  readonly keys: readonly string[];
  readonly value: JsonValue;
}

/** Sorts paths in the order of the search: a value within a sensitive value is sealed with it. */
export function inOrder(paths: readonly SensitivePath[]): readonly SensitivePath[] {
  return [...paths].sort((a, b) => a.length - b.length);
}

type Put = (sensitive: SensitiveValue) => JsonValue;

/**
 * The arguments with what `put` returns in place of each sensitive value; the same object where
 * there is none. `paths` are sorted by `inOrder`.
 */
export function replaceSensitive(
  args: JsonObject,
  paths: readonly SensitivePath[],
  put: Put,
): JsonObject {
  const done = new Set<string>();
  const once: Put = (sensitive) => {
    const pointer = pointerOf(sensitive.keys);
    if (sensitive.value === null || done.has(pointer)) return sensitive.value;
    done.add(pointer);
    return put(sensitive);
  };
  return paths.reduce((made, path) => inObject(made, path, [], once), args);
}

function inObject(
  object: JsonObject,
  path: SensitivePath,
  above: readonly string[],
  put: Put,
): JsonObject {
  const name = path.join(".");
  let made = object;
  for (const key of Object.keys(object)) {
    const isIt = key === name || key.startsWith(`${name}.`);
    if (!isIt && !name.startsWith(`${key}.`)) continue;
    const value = object[key] as JsonValue;
    const keys = [...above, key];
    const rest = path.slice(key.split(".").length);
    const goesOn = !isIt && isObject(value);
    const after = goesOn ? inObject(value, rest, keys, put) : put({ keys, value });
    if (after !== value) made = { ...made, [key]: after };
  }
  return made;
}

/** A copy with another value under existing member names; null where they do not exist. */
export function withValueAt(
  args: JsonObject,
  keys: readonly string[],
  value: JsonValue,
): JsonObject | null {
  const [key, ...rest] = keys;
  if (key === undefined || !Object.hasOwn(args, key)) return null;
  if (rest.length === 0) return { ...args, [key]: value };
  const child = args[key];
  const made = isObject(child) ? withValueAt(child, rest, value) : null;
  return made === null ? null : { ...args, [key]: made };
}

/** RFC 6901: `/customer/card`. */
export function pointerOf(keys: readonly string[]): string {
  return keys.map((key) => `/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}

export function keysOf(pointer: string): readonly string[] {
  const parts = pointer.split("/").slice(1);
  return parts.map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
}
