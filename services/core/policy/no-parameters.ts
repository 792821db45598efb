import type { JsonValue } from "../canonical/json-value.ts";
import type { ToolDocument } from "./document.ts";

/** Keywords by which a schema may ask for members that `properties` does not name. */
const OPEN_KEYWORDS: readonly string[] = [
  "patternProperties",
  "anyOf",
  "oneOf",
  "allOf",
  "if",
  "$ref",
  "required",
  "minProperties",
  "additionalProperties",
];

/**
 * Whether the schema is known to have no parameters. A schema that does not mention members leaves
 * them open.
 */
export function hasNoParameters(schema: ToolDocument["input_schema"]): boolean {
  if (schema === undefined || OPEN_KEYWORDS.some((key) => asksForMore(schema[key]))) return false;
  const properties = schema["properties"];
  if (properties === undefined) return schema["additionalProperties"] === false;
  return Object.keys(properties as object).length === 0;
}

function asksForMore(value: JsonValue | undefined): boolean {
  if (value === undefined || value === false || value === 0) return false;
  return !(Array.isArray(value) && value.length === 0);
}
