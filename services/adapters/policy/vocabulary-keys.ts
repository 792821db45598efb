/** Lists the keys of the vocabulary by their position, read from the schema itself. */
import type { z } from "zod";
import type { PathSegment } from "../../core/policy/path.ts";
import { policyDocument } from "./vocabulary/blocks.ts";

type Schema = z.core.$ZodType;

/** The keys that the map at a path may have; for alternatives, the keys of all of them. */
export function keysAt(path: readonly PathSegment[]): readonly string[] {
  return [...new Set(schemasAt(path).flatMap(formsOf).flatMap(ownKeys))];
}

/** The kinds of a map that are distinguished by a key (`action: hitl`), each with its keys. */
export function variantsAt(
  path: readonly PathSegment[],
): readonly { readonly key: string; readonly word: string; readonly keys: readonly string[] }[] {
  return schemasAt(path).flatMap((schema) => {
    const def = definition(schema) as { readonly discriminator?: string };
    const key = def.discriminator;
    if (key === undefined) return [];
    return formsOf(schema).map((option) => ({
      key,
      word: wordOf(option, key),
      keys: ownKeys(option),
    }));
  });
}

function schemasAt(path: readonly PathSegment[]): readonly Schema[] {
  let schemas: readonly Schema[] = [policyDocument];
  for (const segment of path) schemas = schemas.flatMap((schema) => descend(schema, segment));
  return schemas;
}

function wordOf(option: Schema, key: string): string {
  const child = childrenOf(option).find(([step]) => step === key)?.[1];
  const def = child === undefined ? undefined : definition(child);
  return def?.type === "literal" ? String(def.values[0]) : "";
}

/** Paths of the maps that have a key of this name, such as `tools` or `tool_schemas.*`. */
export function listKeyPaths(name: string): readonly string[] {
  const paths: string[] = [];
  visit(policyDocument, [], (path, keys) => {
    if (keys.includes(name)) paths.push(path.length === 0 ? "the top level" : path.join("."));
  });
  // A map inside another map with the key is left out, to shorten the list.
  const inside = (path: string): boolean => paths.some((one) => path.startsWith(`${one}.`));
  return [...new Set(paths)].filter((path) => !inside(path));
}

function visit(
  schema: Schema,
  path: readonly string[],
  onKeys: (path: readonly string[], keys: readonly string[]) => void,
): void {
  for (const inner of formsOf(schema)) {
    onKeys(path, ownKeys(inner));
    for (const [step, child] of childrenOf(inner)) visit(child, [...path, step], onKeys);
  }
}

function descend(schema: Schema, segment: PathSegment): readonly Schema[] {
  return formsOf(schema)
    .flatMap(childrenOf)
    .filter(([step]) => step === "*" || step === segment)
    .map(([, child]) => child);
}

function ownKeys(schema: Schema): readonly string[] {
  const def = definition(schema);
  return def.type === "object" ? Object.keys(def.shape) : [];
}

export function childrenOf(schema: Schema): readonly (readonly [step: string, child: Schema])[] {
  const def = definition(schema);
  if (def.type === "object") return Object.entries(def.shape);
  if (def.type === "record") return [["*", def.valueType]];
  return def.type === "array" ? [["*", def.element]] : [];
}

/** The schemas behind options, transforms and alternatives. */
export function formsOf(schema: Schema): readonly Schema[] {
  const def = definition(schema);
  if (def.type === "optional") return formsOf(def.innerType);
  if (def.type === "pipe") return formsOf(def.in);
  return def.type === "union" ? def.options.flatMap(formsOf) : [schema];
}

function definition(schema: Schema): z.core.$ZodTypes["_zod"]["def"] {
  return schema._zod.def as z.core.$ZodTypes["_zod"]["def"];
}
