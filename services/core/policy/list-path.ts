/**
 * Argument paths through lists: `files[].path` is the member `path` of each element of `files`, `to[]` each element
 * of `to`. A value that is no list counts as a list of one, so that one spelling fits tools that take either.
 */
import type { JsonValue } from "../canonical/json-value.ts";
import { LIMITS } from "../limits.ts";
import { getArgument, isObject, removeArgument, setArgument } from "./argument-path.ts";

/** `lists`: the lists on the way, each from an element of the one before; `rest`: the member in an element. */
export interface ListPath {
  readonly lists: readonly string[];
  readonly rest: string;
}

const LIST = "[]";

export function isListPath(path: string): boolean {
  return path.includes(LIST);
}

/** `orders[].items[].sku`: the lists `orders` and `items`, the rest `sku`. */
export function readListPath(path: string): ListPath {
  const parts = path.split(LIST).map((part) => (part.startsWith(".") ? part.slice(1) : part));
  return { lists: parts.slice(0, -1), rest: parts.at(-1) ?? "" };
}

/** What is wrong with the brackets of a path; null: nothing, or it has none. */
export function findBracketProblem(path: string): string | null {
  if (!/[[\]]/.test(path)) return null;
  const isWhole = /^[^.[\]]+(?:\[\])*(?:\.[^.[\]]+(?:\[\])*)*$/.test(path);
  return isWhole ? null : `\`${path}\` is no path into a list: write files[].path, or to[]`;
}

/** The value at a path in a value; the value itself at the empty path. */
export function valueAt(value: JsonValue, path: string): JsonValue | undefined {
  if (path === "") return value;
  return isObject(value) ? getArgument(value, path) : undefined;
}

/**
 * Visits each innermost element, with the elements that it is in: the arguments first, then one of each list. False
 * where a list is missing, or the visitor returned false, which ends the visit.
 */
function visitElements(
  args: JsonValue,
  lists: readonly string[],
  visit: (scopes: readonly JsonValue[]) => boolean,
): boolean {
  const within = (scopes: readonly JsonValue[]): boolean => {
    const list = lists[scopes.length - 1];
    if (list === undefined) return visit(scopes);
    const value = valueAt(scopes.at(-1) as JsonValue, list);
    if (value === undefined || value === null) return false;
    return elementsOf(value).every((element) => within([...scopes, element]));
  };
  return within([args]);
}

function elementsOf(value: JsonValue): readonly JsonValue[] {
  return Array.isArray(value) ? (value as readonly JsonValue[]) : [value];
}

/** The different names of the elements; null where one has none, or there are none or too many. */
export function namesOfElements(
  value: JsonValue,
  lists: readonly string[],
  nameOf: (scopes: readonly JsonValue[]) => string | null,
): readonly string[] | null {
  const names = new Set<string>();
  const hasNames = visitElements(value, lists, (scopes) => {
    const name = nameOf(scopes);
    if (name !== null) names.add(name);
    return name !== null && names.size <= LIMITS.resourcesPerCall;
  });
  return hasNames && names.size > 0 ? [...names] : null;
}

/**
 * A copy in which `replace` has been applied to each value at the path; it returns undefined where a member, or an
 * element, is to be left out. Values that are missing stay so.
 */
export function mapElements(
  value: JsonValue,
  { lists: [list, ...inner], rest }: ListPath,
  replace: (before: JsonValue) => JsonValue | undefined,
): JsonValue | undefined {
  const path = list ?? rest;
  const change = (before: JsonValue): JsonValue | undefined =>
    list === undefined ? replace(before) : mapList(before, { lists: inner, rest }, replace);
  if (path === "") return change(value);
  const before = valueAt(value, path);
  if (before === undefined || !isObject(value)) return value;
  const after = change(before);
  if (after === undefined) return removeArgument(value, path);
  return after === before ? value : setArgument(value, path, after);
}

function mapList(
  value: JsonValue,
  inner: ListPath,
  replace: (before: JsonValue) => JsonValue | undefined,
): JsonValue | undefined {
  if (!Array.isArray(value)) return mapElements(value, inner, replace);
  const elements = value as readonly JsonValue[];
  const mapped = elements.map((element) => mapElements(element, inner, replace));
  const isSame = mapped.every((element, at) => element === elements[at]);
  return isSame ? value : mapped.filter((element) => element !== undefined);
}
