import type { JsonValue } from "../canonical/json-value.ts";
import type { ValueCapabilities } from "../capabilities.ts";

/** What became of a value. A message says what was wanted; the value itself stays out of it. */
export type Normalized =
  | { readonly ok: true; readonly value: JsonValue }
  | { readonly ok: false; readonly message: string };

/** Pure and total. It gives a value's one form or says that it cannot; it never guesses. */
export type Normalizer = (value: JsonValue, capabilities: ValueCapabilities) => Normalized;

export function normalized(value: JsonValue): Normalized {
  return { ok: true, value };
}

export function cannot(message: string): Normalized {
  return { ok: false, message };
}

/** How a value is called in a message. */
export function kindOf(value: JsonValue): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  if (typeof value === "object") return "an object";
  return `a ${typeof value}`;
}
