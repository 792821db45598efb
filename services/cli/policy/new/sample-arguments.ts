/** Made-up arguments that fit the schema of a tool. */
import type { JsonValue } from "../../../core/canonical/json-value.ts";
import { isMap, type JsonMap } from "../import/tool-definition.ts";

const DEPTH_MAX = 4;

/** Only what is required; null: the schema asks for something that cannot be made up here. */
export function sampleArguments(schema: unknown): Readonly<Record<string, JsonValue>> | null {
  if (schema === undefined || schema === null) return {};
  const sample = isMap(schema) ? sampleObject(schema, DEPTH_MAX) : null;
  return sample;
}

function sampleObject(schema: JsonMap, depth: number): Record<string, JsonValue> | null {
  const properties = isMap(schema["properties"]) ? schema["properties"] : {};
  const required: readonly unknown[] = Array.isArray(schema["required"]) ? schema["required"] : [];
  const sample: Record<string, JsonValue> = {};
  for (const name of required) {
    if (typeof name !== "string") return null;
    const value = sampleValue(name, properties[name], depth - 1);
    if (value === undefined) return null;
    sample[name] = value;
  }
  return sample;
}

function sampleValue(name: string, schema: unknown, depth: number): JsonValue | undefined {
  if (depth < 0) return undefined;
  if (!isMap(schema)) return "a1";
  const { enum: choices, const: only, type } = schema;
  if (only !== undefined) return only as JsonValue;
  if (Array.isArray(choices)) return choices[0] as JsonValue;
  const own: unknown = Array.isArray(type) ? type.find((one) => one !== "null") : type;
  switch (own) {
    case "integer":
    case "number":
      return sampleNumber(schema);
    case "boolean":
      return true;
    case "array": {
      const item = sampleValue(name, schema["items"], depth);
      return item === undefined ? undefined : [item];
    }
    case "object":
      return sampleObject(schema, depth) ?? undefined;
    case "string":
      return sampleText(name, schema);
    default:
      return schema["anyOf"] === undefined && schema["$ref"] === undefined ? "a1" : undefined;
  }
}

function sampleNumber({ minimum, exclusiveMinimum }: JsonMap): number {
  if (typeof minimum === "number") return Math.max(Math.ceil(minimum), 1);
  return typeof exclusiveMinimum === "number" ? Math.floor(exclusiveMinimum) + 1 : 5;
}

const BY_FORMAT: Readonly<Record<string, string>> = {
  email: "ann@example.com",
  date: "2026-01-31",
  "date-time": "2026-01-31T12:00:00Z",
  uri: "https://example.com/a",
  url: "https://example.com/a",
  uuid: "8f14e45f-ceea-467f-a0e6-7f2b1c1d2e3a",
};

function sampleText(name: string, { format, minLength }: JsonMap): string {
  const byFormat = typeof format === "string" ? BY_FORMAT[format] : undefined;
  const text = byFormat ?? sampleByName(name.toLowerCase());
  return typeof minLength === "number" ? text.padEnd(minLength, "a") : text;
}

function sampleByName(name: string): string {
  if (name.includes("email") || name === "to") return "ann@example.com";
  if (name.includes("url")) return "https://example.com/a";
  if (name.includes("path") || name.includes("file")) return "notes/a.txt";
  if (name.includes("currency")) return "EUR";
  if (name.includes("amount")) return "20.00";
  if (name.includes("date")) return "2026-01-31";
  return name.endsWith("id") || name.endsWith("number") ? "a1" : `a ${name}`;
}
