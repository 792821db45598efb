/** Whether, and for which tools, spellings of one value count as one (`deduplication.spelling`). */
import type { JsonObject, JsonValue } from "../canonical/json-value.ts";
import type { ValueCapabilities } from "../capabilities.ts";
import { unifySpelling } from "../normalize/spelling.ts";
import { isObject } from "./argument-path.ts";
import type { PolicyDocument, ToolDocument } from "./document.ts";

/** Values in one spelling; the value itself where it is in it already. */
export type UnifyValue = (value: JsonValue) => JsonValue;

/** Null: the policy compares texts as they are. */
export function compileSpelling(
  { deduplication }: PolicyDocument,
  capabilities: ValueCapabilities,
): UnifyValue | null {
  const isExact = deduplication?.strategy === "byte_hash" || deduplication?.spelling === "strict";
  return isExact ? null : (value) => unifySpelling(value, capabilities, () => false);
}

/**
 * For a tool's arguments. JSON stays text where the schema asks for a text, or a normalizer chain is written: they say
 * what the argument is.
 */
export function compileArgumentSpelling(
  tool: ToolDocument,
  capabilities: ValueCapabilities,
): (args: JsonObject) => JsonObject {
  const texts = new Set(Object.keys(tool.normalizers ?? {}));
  addTexts(tool.input_schema as JsonValue | undefined, "", texts, SCHEMA_DEPTH);
  const staysText = (path: string): boolean => texts.has(path);
  return (args) => unifySpelling(args, capabilities, staysText) as JsonObject;
}

/** Deeper arguments are rare, and read as JSON where they are JSON. */
const SCHEMA_DEPTH = 8;

function addTexts(
  schema: JsonValue | undefined,
  path: string,
  texts: Set<string>,
  depth: number,
): void {
  if (!isObject(schema) || depth === 0) return;
  const types = [schema["type"]].flat();
  if (types.includes("string") && !types.includes("object") && !types.includes("array")) {
    texts.add(path);
  }
  const { properties, items } = schema;
  if (isObject(properties)) {
    for (const [name, inner] of Object.entries(properties)) {
      addTexts(inner, path === "" ? name : `${path}.${name}`, texts, depth - 1);
    }
  }
  addTexts(items, `${path}[]`, texts, depth - 1);
}

/**
 * Whether two spellings of a write's arguments are one call. Not, by default, of a tool that only updates things: it
 * writes texts, whose white space may be what the call is about, and once more does no harm.
 */
export function ignoresSpelling(tool: ToolDocument): boolean {
  if (tool.spelling !== undefined) return tool.spelling === "lenient";
  const { effects = [], side_effect_resource: once } = tool;
  const writes = effects.filter(({ kind }) => kind !== "read");
  return once !== undefined || writes.length === 0 || writes.some(({ kind }) => kind !== "update");
}
