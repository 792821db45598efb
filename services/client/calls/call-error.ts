/**
 * Describes what handlers throw. A thrown value can be anything, and reading it may throw as well.
 */

import { cutText } from "../../core/cut-text.ts";
import type { CallError } from "../../core/inputs.ts";

const CODE_CHARACTERS = 200;

/**
 * Reads the message, `code` or `status`, and `retryable` of a thrown value. Never throws, even if
 * reading the value throws.
 */
export function describeThrown(error: unknown): CallError {
  if (!hasMembers(error)) return { code: null, message: String(error), retryable: null };
  const code = ["code", "status", "statusCode"].map((name) => read(error, name)).find(isCode);
  const retryable = read(error, "retryable");
  return {
    code: code === undefined ? null : cutText(String(code), CODE_CHARACTERS),
    message: messageOf(error),
    retryable: typeof retryable === "boolean" ? retryable : null,
  };
}

/** Whether this is the error that code throws when a signal aborts it. Never throws. */
export function isAbortError(error: unknown): boolean {
  return hasMembers(error) && isError(error) && read(error, "name") === "AbortError";
}

/** A class or function that was thrown by mistake does not count: its text would be its source. */
function hasMembers(value: unknown): value is object {
  return (typeof value === "object" && value !== null) || typeof value === "function";
}

function isError(value: object): boolean {
  try {
    return value instanceof Error;
  } catch {
    // A revoked proxy throws on every access.
    return false;
  }
}

function read(error: object, name: string): unknown {
  try {
    return Reflect.get(error, name);
  } catch {
    return undefined;
  }
}

function isCode(value: unknown): value is string | number {
  return typeof value === "string" || typeof value === "number";
}

function messageOf(error: object): string {
  const message = read(error, "message");
  return typeof message === "string" ? message : "the thrown value was not an error";
}

/**
 * Marks an error: the call failed and certainly took no effect, so it may run again as a new one.
 * Throw the returned error from a handler, and only if you are certain: a time-out is not.
 *
 * @returns the error itself, marked; if it cannot be marked, an `Error` with it as the cause.
 */
export function noEffect(error: unknown): Error {
  if (error instanceof Error && Object.isExtensible(error)) {
    Object.defineProperty(error, "callgateEffect", { value: "none", configurable: true });
    return error;
  }
  const message = error instanceof Error ? error.message : String(error);
  return Object.assign(new Error(message, { cause: error }), { callgateEffect: "none" });
}
