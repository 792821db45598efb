/** Normalizers from and to text. Case mapping and white space are those of ECMAScript, without a locale. */

import type { JsonValue } from "../canonical/json-value.ts";
import { cannot, kindOf, type Normalized, type Normalizer, normalized } from "./normalizer.ts";

/** Text of a scalar as JSON prints it; null and containers have none. */
export const convertToString: Normalizer = (value) => {
  if (typeof value === "string") return normalized(value);
  if (typeof value === "number" || typeof value === "boolean") return normalized(String(value));
  return cannot(`\`to_string\` needs text, a number or a boolean, found ${kindOf(value)}`);
};

export const toLower: Normalizer = (value) =>
  onText("to_lower", value, (text) => text.toLowerCase());

export const toUpper: Normalizer = (value) =>
  onText("to_upper", value, (text) => text.toUpperCase());

export const trim: Normalizer = (value) => onText("trim", value, (text) => text.trim());

/** An absolute URL in the form that the URL standard gives it. */
export const url: Normalizer = (value, capabilities) => {
  if (typeof value !== "string") return cannot(`\`url\` needs text, found ${kindOf(value)}`);
  const href = capabilities.url(value);
  return href === null ? cannot("`url` needs an absolute URL") : normalized(href);
};

function onText(name: string, value: JsonValue, map: (text: string) => string): Normalized {
  if (typeof value !== "string") return cannot(`\`${name}\` needs text, found ${kindOf(value)}`);
  return normalized(map(value));
}
