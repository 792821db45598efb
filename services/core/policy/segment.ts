import { canonicalText } from "../canonical/canonical-text.ts";
import type { JsonValue } from "../canonical/json-value.ts";

/** One path segment of a value; different values give different segments. */
export function segmentOf(value: JsonValue): string {
  const text = typeof value === "string" ? value : canonicalText(value);
  return /[%/]/.test(text) ? text.replaceAll("%", "%25").replaceAll("/", "%2F") : text;
}
