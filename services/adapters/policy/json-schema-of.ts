/** The JSON Schema of a tool's arguments in a program: zod, the AI SDK, LangChain, or plain. */
import { z } from "zod";

/** Undefined: it is in a form that has no JSON Schema. */
export function jsonSchemaOf(schema: unknown): unknown {
  if (typeof schema !== "object" || schema === null) return undefined;
  // `jsonSchema()` of the AI SDK.
  if ("jsonSchema" in schema) return isPlain(schema.jsonSchema) ? schema.jsonSchema : undefined;
  if ("_zod" in schema) return fromZod(schema);
  // zod 3, valibot and others: their own form says nothing here.
  if ("_def" in schema || "~standard" in schema) return undefined;
  return isPlain(schema) ? schema : undefined;
}

function fromZod(schema: object): unknown {
  try {
    return z.toJSONSchema(schema as z.ZodType, { io: "input", unrepresentable: "any" });
  } catch {
    return undefined;
  }
}

function isPlain(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
