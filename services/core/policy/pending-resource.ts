/**
 * Resources that only a result names: `invoice/{result.id}`. Until the result is in, the
 * placeholder remains as it was written; all other braces are doubled, so that no argument can
 * introduce a placeholder.
 */
import type { JsonValue } from "../canonical/json-value.ts";
import { LIMITS } from "../limits.ts";
import { isObject } from "./argument-path.ts";
import type { UnifyValue } from "./compile-spelling.ts";
import { namesOfElements, readListPath, valueAt } from "./list-path.ts";
import { namesThing, segmentOf } from "./segment.ts";

const PREFIX = "result.";
const LIST_PREFIX = "result[]";
const OPEN_PART = /\{\{|\}\}|\{result([.[][^{}]+)\}/g;

/** Whether the placeholder names a part of the result: `result.id`, or `result[].id` of each element. */
export function isOfResult(placeholder: string): boolean {
  return placeholder.startsWith(PREFIX) || placeholder.startsWith(LIST_PREFIX);
}

/** False where one of its steps has no name. */
export function isResultPath(placeholder: string): boolean {
  if (placeholder.startsWith(LIST_PREFIX)) return true;
  return placeholder
    .slice(PREFIX.length)
    .split(".")
    .every((step) => step !== "");
}

/** Escapes a text so that it has no placeholder. */
export function closed(text: string): string {
  return /[{}]/.test(text) ? text.replaceAll("{", "{{").replaceAll("}", "}}") : text;
}

/** The resources that the output names; null where it has no such part, or one that cannot be a name. */
export function namesFromResult(
  pending: string,
  output: JsonValue,
  unify: UnifyValue | null = null,
): readonly string[] | null {
  const ways = [...pending.matchAll(OPEN_PART)].flatMap(([, path]) =>
    path === undefined ? [] : [readListPath(`result${path}`)],
  );
  const { lists } = ways.reduce((long, way) => (way.lists.length > long.lists.length ? way : long));
  return namesOfElements({ result: output }, lists, (scopes) =>
    fillPending(pending, scopes, unify),
  );
}

/** `scopes`: what holds the result, then one element of each list on the way. */
function fillPending(
  pending: string,
  scopes: readonly JsonValue[],
  unify: UnifyValue | null,
): string | null {
  let whole = true;
  const resource = pending.replace(OPEN_PART, (match: string, path: string | undefined) => {
    if (path === undefined) return match.charAt(0);
    const { lists, rest } = readListPath(`result${path}`);
    const value = partOf(scopes, lists.length, rest);
    const name = nameOf(value === undefined || unify === null ? value : unify(value));
    if (name === null) whole = false;
    return name ?? "";
  });
  return whole ? resource : null;
}

/** A part outside of lists is looked for in the result itself, which may have a dot in the name of a member. */
function partOf(scopes: readonly JsonValue[], depth: number, rest: string): JsonValue | undefined {
  const scope = scopes[depth] as JsonValue;
  if (depth > 0) return valueAt(scope, rest);
  const result = valueAt(scope, "result");
  return result === undefined || !isObject(result)
    ? undefined
    : valueAt(result, rest.slice(PREFIX.length));
}

function nameOf(value: JsonValue | undefined): string | null {
  if (!namesThing(value)) return null;
  const name = segmentOf(value);
  return name.length > LIMITS.resultNameLength ? null : name;
}
