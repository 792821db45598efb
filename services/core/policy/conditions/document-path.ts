/**
 * Paths of arguments in conditions: `customer.id`, and `to[]` or `items[].price` for each element of
 * a list. A value that is no list counts as a list of one.
 */
import type { JsonObject, JsonValue } from "../../canonical/json-value.ts";
import { getArgument, isObject } from "../argument-path.ts";

const WHOLE = /^[^.[\]\s][^.[\]]*(?:\[\])*(?:\.[^.[\]\s][^.[\]]*(?:\[\])*)*$/;

export function isConditionPath(path: string): boolean {
  return WHOLE.test(path);
}

/** One value at a path, and the map that it is a member of. */
export interface ValueAt {
  /** Undefined: the call does not have it. */
  readonly value: JsonValue | undefined;
  readonly within: JsonObject | null;
}

/** `items[].price`: `["items", "price"]`; `to[]`: `["to", ""]`. */
export function partsOf(path: string): readonly string[] {
  return path.split("[]").map((part) => (part.startsWith(".") ? part.slice(1) : part));
}

/** The values at a path; none where a list on the way is empty. */
export function valuesAt(args: JsonObject, path: string): readonly ValueAt[] {
  const [first = "", ...rest] = partsOf(path);
  let values: readonly ValueAt[] = [memberAt(args, first)];
  for (const part of rest) {
    values = values
      .flatMap(elementsOf)
      .map((element) => (part === "" ? element : memberOf(element, part)));
  }
  return values;
}

function memberAt(map: JsonObject, path: string): ValueAt {
  const dot = path.lastIndexOf(".");
  const value = getArgument(map, path);
  if (dot < 0 || Object.hasOwn(map, path)) return { value, within: map };
  const parent = getArgument(map, path.slice(0, dot));
  return { value, within: isObject(parent) ? parent : null };
}

function memberOf({ value }: ValueAt, path: string): ValueAt {
  return isObject(value) ? memberAt(value, path) : { value: undefined, within: null };
}

function elementsOf(at: ValueAt): readonly ValueAt[] {
  if (!Array.isArray(at.value)) return [at];
  return (at.value as readonly JsonValue[]).map((value) => ({
    value,
    within: isObject(value) ? value : at.within,
  }));
}
