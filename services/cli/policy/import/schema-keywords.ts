/** The required value type of each JSON Schema 2020-12 keyword. */
import { isMap } from "./tool-definition.ts";

/** Keywords whose value is one schema. */
export const SCHEMA_KEYWORDS: ReadonlySet<string> = new Set([
  "items",
  "contains",
  "additionalProperties",
  "propertyNames",
  "unevaluatedItems",
  "unevaluatedProperties",
  "not",
  "if",
  "then",
  "else",
]);

/** Keywords whose value is a list of schemas. */
export const LIST_KEYWORDS: ReadonlySet<string> = new Set([
  "anyOf",
  "oneOf",
  "allOf",
  "prefixItems",
]);

/** Keywords whose value is a map of schemas. */
export const MAP_KEYWORDS: ReadonlySet<string> = new Set([
  "properties",
  "patternProperties",
  "$defs",
  "definitions",
  "dependentSchemas",
]);

const COUNTS = new Set([
  "minLength",
  "maxLength",
  "minItems",
  "maxItems",
  "minProperties",
  "maxProperties",
  "minContains",
  "maxContains",
]);

const NUMBERS = new Set(["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"]);
const TEXTS = new Set(["pattern", "format", "$ref", "$anchor", "contentEncoding"]);
const FLAGS = new Set(["uniqueItems", "deprecated", "readOnly", "writeOnly"]);
/** Keywords that change how references resolve; a tool's schema stands alone. */
const FOREIGN = new Set([
  "$id",
  "id",
  "$dynamicRef",
  "$dynamicAnchor",
  "$recursiveRef",
  "$vocabulary",
]);

/** Whether the standard allows the keyword's value, and a policy can carry it. */
export function isReadable(keyword: string, value: unknown): boolean {
  if (FOREIGN.has(keyword) || keyword === "__proto__") return false;
  if (SCHEMA_KEYWORDS.has(keyword)) return isSchema(value);
  if (LIST_KEYWORDS.has(keyword)) return isNonEmptyList(value) && value.every(isSchema);
  if (MAP_KEYWORDS.has(keyword)) return isMap(value);
  return isPortable(value) && isReadableValue(keyword, value);
}

function isReadableValue(keyword: string, value: unknown): boolean {
  if (COUNTS.has(keyword)) return Number.isSafeInteger(value) && (value as number) >= 0;
  if (NUMBERS.has(keyword)) return typeof value === "number";
  if (TEXTS.has(keyword)) return typeof value === "string";
  if (FLAGS.has(keyword)) return typeof value === "boolean";
  if (keyword === "multipleOf") return typeof value === "number" && value > 0;
  if (keyword === "enum") return isNonEmptyList(value);
  if (keyword === "required") return isTexts(value);
  if (keyword === "dependentRequired") return isMap(value) && Object.values(value).every(isTexts);
  return true;
}

function isSchema(value: unknown): boolean {
  return typeof value === "boolean" || isMap(value);
}

function isNonEmptyList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value) && value.length > 0;
}

function isTexts(value: unknown): boolean {
  return (
    Array.isArray(value) &&
    value.every((item) => typeof item === "string") &&
    new Set(value).size === value.length
  );
}

/**
 * A policy cannot carry numbers that a double does not hold exactly (a 64-bit maximum, for
 * example).
 */
function isPortable(value: unknown): boolean {
  if (Array.isArray(value)) return value.every(isPortable);
  if (isMap(value)) {
    return Object.entries(value).every(([key, inner]) => key !== "__proto__" && isPortable(inner));
  }
  if (typeof value !== "number") return true;
  return Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value));
}
