import type { DeclaredEffect } from "../../../core/policy/document.ts";
import type { ToolDefinition } from "./tool-definition.ts";

type Schema = Readonly<Record<string, unknown>>;

/** A definition with a repaired schema; null if nothing is declared about its arguments. */
export type RepairedDefinition = Omit<ToolDefinition, "schema"> & {
  readonly schema: Schema | null;
};

/**
 * Merges all definitions of one name. A laxer fact (read-only, an effect, a schema) must hold in
 * all of them; a stricter one in any.
 */
export function mergeDefinitions(definitions: readonly RepairedDefinition[]): RepairedDefinition {
  const [first] = definitions;
  if (first === undefined) throw new RangeError("no definition to merge");
  return {
    name: first.name,
    schema: joinSchemas(definitions.map(({ schema }) => schema)),
    description: first.description,
    method: first.method,
    readOnly: agreedReadOnly(definitions.map(({ readOnly }) => readOnly)),
    risky: definitions.some(({ risky }) => risky),
    effects: first.effects.filter((effect) =>
      definitions.every((other) => other.effects.some((candidate) => isSame(candidate, effect))),
    ),
  };
}

function agreedReadOnly(values: readonly (boolean | null)[]): boolean | null {
  if (values.includes(false)) return false;
  return values.includes(null) ? null : true;
}

function isSame(a: DeclaredEffect, b: DeclaredEffect): boolean {
  return a.resource === b.resource && a.kind === b.kind && a.exclusive === b.exclusive;
}

function joinSchemas(schemas: readonly (Schema | null)[]): Schema | null {
  const distinct = new Map<string, Schema>();
  for (const schema of schemas) {
    if (schema === null) return null;
    distinct.set(JSON.stringify(schema), schema);
  }
  const joined = [...distinct.values()];
  if (joined.length === 1) return joined[0] ?? null;
  return {
    type: "object",
    anyOf: joined.map((schema, at) => moveReferences(schema, at) as Schema),
  };
}

/** A schema that moves under `anyOf` takes its own definitions along. */
function moveReferences(value: unknown, at: number): unknown {
  if (Array.isArray(value)) return value.map((item) => moveReferences(item, at));
  if (typeof value !== "object" || value === null) return value;
  const moved = Object.entries(value).map(([key, inner]) => {
    const points = key === "$ref" && typeof inner === "string" && inner.startsWith("#");
    return [key, points ? `#/anyOf/${at}${inner.slice(1)}` : moveReferences(inner, at)];
  });
  return Object.fromEntries(moved);
}
