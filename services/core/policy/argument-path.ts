/**
 * Argument paths: `customer.id` names a member of a member. A literal key with dots counts only
 * where no member with the path's first part exists: otherwise a model could add one beside the
 * real value and so choose what its call is taken for.
 */
import type { JsonObject, JsonValue } from "../canonical/json-value.ts";

export function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function getArgument(args: JsonObject, path: string): JsonValue | undefined {
  if (isLiteral(args, path)) return args[path];
  if (!path.includes(".")) return undefined;
  let value: JsonValue | undefined = args;
  for (const key of path.split(".")) {
    if (!isObject(value) || !Object.hasOwn(value, key)) return undefined;
    value = value[key];
  }
  return value;
}

function isLiteral(args: JsonObject, path: string): boolean {
  const dot = path.indexOf(".");
  return Object.hasOwn(args, path) && (dot < 0 || !Object.hasOwn(args, path.slice(0, dot)));
}

/** A copy in which the value at an existing path is replaced. */
export function setArgument(args: JsonObject, path: string, value: JsonValue): JsonObject {
  if (isLiteral(args, path)) return { ...args, [path]: value };
  const dot = path.indexOf(".");
  const head = path.slice(0, dot);
  const child = args[head];
  if (dot < 0 || !isObject(child)) return args;
  return { ...args, [head]: setArgument(child, path.slice(dot + 1), value) };
}

/** A copy without the value at an existing path. */
export function removeArgument(args: JsonObject, path: string): JsonObject {
  if (isLiteral(args, path)) return withoutArgument(args, path);
  const dot = path.indexOf(".");
  const head = path.slice(0, dot);
  const child = args[head];
  if (dot < 0 || !isObject(child)) return args;
  return { ...args, [head]: removeArgument(child, path.slice(dot + 1)) };
}

/** A copy without a top-level member. */
export function withoutArgument(args: JsonObject, key: string): JsonObject {
  if (!Object.hasOwn(args, key)) return args;
  const { [key]: _dropped, ...rest } = args;
  return rest;
}
