/** RFC 8785 text of a value. */

import type { JsonObject, JsonValue } from "./json-value.ts";

/** Called as a function in loops: see docs/style.md, "Loops over texts". */
const { charCodeAt } = String.prototype;

/**
 * The canonical form of a value that was parsed or normalized: members by UTF-16 code units, numbers and strings as
 * ECMAScript prints them, no white space.
 */
export function canonicalText(value: JsonValue): string {
  if (typeof value === "string") return textOf(value);
  if (typeof value === "number") return Object.is(value, -0) ? "0" : String(value);
  if (value === null || typeof value === "boolean") return String(value);
  if (isArray(value)) return `[${value.map(canonicalText).join(",")}]`;
  return objectText(value);
}

/** Longer texts are printed faster than they are scanned letter by letter. */
const SHORT = 64;

function textOf(text: string): string {
  if (text.length > SHORT) return JSON.stringify(text);
  for (let at = 0; at < text.length; at++) {
    const unit = charCodeAt.call(text, at);
    if (unit < 0x20 || unit > 0x7e || unit === 0x22 || unit === 0x5c) return JSON.stringify(text);
  }
  return `"${text}"`;
}

function objectText(value: JsonObject): string {
  const members = Object.keys(value)
    .sort()
    .map((key) => `${textOf(key)}:${canonicalText(value[key] as JsonValue)}`);
  return `{${members.join(",")}}`;
}

function isArray(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value);
}
