/**
 * The argument that carries the idempotency key, by its path: the key is written into the members
 * that the path names, whatever the model wrote there. A literal key with dots is never used
 * instead, and is removed: a model could write one so that the key is where no tool looks.
 */
import type { JsonObject } from "../canonical/json-value.ts";
import { isObject, withoutArgument } from "./argument-path.ts";

type Step = { readonly head: string; readonly rest: string };

/** The first member of a path and the path in it; null where the path is one member. */
function stepOf(path: string): Step | null {
  const dot = path.indexOf(".");
  return dot < 0 ? null : { head: path.slice(0, dot), rest: path.slice(dot + 1) };
}

function memberOf(args: JsonObject, { head }: Step) {
  return Object.hasOwn(args, head) ? args[head] : undefined;
}

/**
 * The arguments without the key, and without an object that is empty after that: two calls are one
 * if a tool gets the same arguments once the key is written.
 */
export function withoutKey(args: JsonObject, path: string): JsonObject {
  const remaining = withoutArgument(args, path);
  const step = stepOf(path);
  if (step === null) return remaining;
  const child = memberOf(remaining, step);
  if (!isObject(child)) return remaining;
  const remainingChild = withoutKey(child, step.rest);
  if (Object.keys(remainingChild).length === 0) return withoutArgument(remaining, step.head);
  return remainingChild === child ? remaining : { ...remaining, [step.head]: remainingChild };
}

/**
 * The arguments with the key written at its path; missing objects on the path are created. A
 * caller's value on the path that is no object stays, and the key is left out: where such a call is
 * not refused, the tool judges it.
 */
export function withKey(args: JsonObject, path: string, key: string): JsonObject {
  return inWayOfKey(args, path) === null ? placed(args, path, key) : withoutKey(args, path);
}

function placed(args: JsonObject, path: string, key: string): JsonObject {
  const step = stepOf(path);
  if (step === null) return { ...args, [path]: key };
  const remaining = withoutArgument(args, path);
  const child = memberOf(remaining, step);
  return { ...remaining, [step.head]: placed(isObject(child) ? child : {}, step.rest, key) };
}

/** Path of a value that is no object although the key needs one there; null where there is none. */
export function inWayOfKey(args: JsonObject, path: string): string | null {
  const step = stepOf(path);
  const child = step === null ? undefined : memberOf(args, step);
  if (step === null || child === undefined) return null;
  if (!isObject(child)) return step.head;
  const inner = inWayOfKey(child, step.rest);
  return inner === null ? null : `${step.head}.${inner}`;
}
