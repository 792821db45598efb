/** Canonical fields: the arguments that make two calls the same, as members of the identity's text. */
import { canonicalText } from "../canonical/canonical-text.ts";
import type { JsonObject, JsonValue } from "../canonical/json-value.ts";
import { getArgument } from "./argument-path.ts";
import { findBracketProblem, isListPath, readListPath, valueAt } from "./list-path.ts";

/** Prints the value of one member; undefined: the call does not have it. */
type Member = { readonly key: string; readonly print: (args: JsonObject) => string | undefined };

/** What is wrong with a field; null: nothing. */
export function findFieldProblem(field: string): string | null {
  const problem = findBracketProblem(field);
  if (problem !== null || readListPath(field).lists.length < 2) return problem;
  return `\`${field}\` goes into a list within a list: name the outer list, whose elements are then compared as they are`;
}

/**
 * In the order of the canonical form. Fields in elements of one list are one member: the elements, each with its fields,
 * in any order and each once.
 */
export function compileMembers(fields: readonly string[]): readonly Member[] {
  const members = [...new Set(fields)].sort();
  const lists = new Set(members.filter(isListPath).map((field) => listOf(field)));
  const plain = members
    .filter((field) => !isListPath(field))
    .map((field) => ({ name: field, print: (args: JsonObject) => printField(args, field) }));
  const ofLists = [...lists].map((list) => ({
    name: `${list}[]`,
    print: printElements(list, members),
  }));
  return [...plain, ...ofLists]
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ name, print }) => ({ key: `${canonicalText(name)}:`, print }));
}

function listOf(field: string): string {
  return readListPath(field).lists[0] ?? "";
}

function printField(args: JsonObject, field: string): string | undefined {
  const value = getArgument(args, field);
  return value === undefined ? undefined : canonicalText(value);
}

function printElements(list: string, members: readonly string[]): Member["print"] {
  const rests = members
    .filter((field) => isListPath(field) && listOf(field) === list)
    .map((field) => readListPath(field).rest);
  return (args) => {
    const value = getArgument(args, list);
    if (value === undefined || value === null) return undefined;
    const elements = (Array.isArray(value) ? value : [value]) as readonly JsonValue[];
    const texts = elements.map((element) => canonicalText(partOf(element, rests)));
    return `[${[...new Set(texts)].sort().join(",")}]`;
  };
}

/** The whole element where a field names it (`to[]`), or where it has none of the members. */
function partOf(element: JsonValue, rests: readonly string[]): JsonValue {
  if (rests.includes("")) return element;
  const parts = rests.flatMap((rest) => {
    const value = valueAt(element, rest);
    return value === undefined ? [] : [[rest, value] as const];
  });
  return parts.length === 0 ? element : Object.fromEntries(parts);
}

/** The members whose fields the call has; empty where it has none: then all arguments count. */
export function printMembers(args: JsonObject, members: readonly Member[]): string {
  let text = "";
  for (const { key, print } of members) {
    const value = print(args);
    if (value !== undefined) text += `${text === "" ? "" : ","}${key}${value}`;
  }
  return text;
}

/**
 * In the order of the policy. Null takes the place of a missing value before another one, so that
 * each value has a fixed index.
 */
export function valuesOf(args: JsonObject, fields: readonly string[]): readonly JsonValue[] {
  const values = fields.map((field) => fieldValue(args, field));
  const last = values.findLastIndex((value) => value !== undefined);
  return values.slice(0, last + 1).map((value) => value ?? null);
}

function fieldValue(args: JsonObject, field: string): JsonValue | undefined {
  if (!isListPath(field)) return getArgument(args, field);
  const printed = printElements(listOf(field), [field])(args);
  return printed === undefined ? undefined : (JSON.parse(printed) as JsonValue);
}
