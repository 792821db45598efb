import { canonicalText } from "../canonical/canonical-text.ts";
import type { JsonValue } from "../canonical/json-value.ts";
import { isObject } from "./argument-path.ts";

/** One path segment for a value; different values give different segments. */
export function segmentOf(value: JsonValue): string {
  const text = typeof value === "string" ? value : canonicalText(value);
  return /[%/]/.test(text) ? text.replaceAll("%", "%25").replaceAll("/", "%2F") : text;
}

/**
 * Whether a value identifies a thing. Without this check all calls with an empty value would seem
 * to concern one thing.
 */
export function namesThing(value: JsonValue | undefined): value is JsonValue {
  if (value === undefined || value === null) return false;
  if (typeof value === "string") return /\S/.test(value);
  if (Array.isArray(value)) return value.length > 0;
  return !isObject(value) || Object.keys(value).length > 0;
}
