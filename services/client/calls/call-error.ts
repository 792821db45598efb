/** What handlers throw: nothing is known of it before it is looked at, and that may throw by itself. */

import { cutText } from "../../core/cut-text.ts";
import type { CallError } from "../../core/inputs.ts";

const CODE_CHARACTERS = 200;

/**
 * What a thrown thing says of itself: `code` or `status`, and `retryable` where it has one. Never throws,
 * whatever the thing does when it is read.
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

/** As what was aborted by a signal throws it. Never throws. */
export function isAbortError(error: unknown): boolean {
  return hasMembers(error) && isError(error) && read(error, "name") === "AbortError";
}

/** A class or a function is thrown by mistake: its text would be its source. */
function hasMembers(value: unknown): value is object {
  return (typeof value === "object" && value !== null) || typeof value === "function";
}

function isError(value: object): boolean {
  try {
    return value instanceof Error;
  } catch {
    // A proxy whose target nobody may look at any more.
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
  return typeof message === "string" ? message : "something that is no error was thrown";
}

/**
 * Marks an error: the call failed and certainly took no effect, so that it may run again as a new one.
 * Throw what it gives from a handler. Only say so where it is certain: a time-out is not.
 *
 * @returns the error itself, marked; where it cannot be marked, an `Error` with it as its cause.
 */
export function noEffect(error: unknown): Error {
  if (error instanceof Error && Object.isExtensible(error)) {
    Object.defineProperty(error, "callgateEffect", { value: "none", configurable: true });
    return error;
  }
  const message = error instanceof Error ? error.message : String(error);
  return Object.assign(new Error(message, { cause: error }), { callgateEffect: "none" });
}
