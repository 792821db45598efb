/**
 * Converts the schemas of tool lists to JSON Schema 2020-12. Translates known dialects and drops
 * keywords that it cannot read; notes both. Omits descriptions: a policy checks arguments and
 * documents nothing.
 */
import { compilePattern } from "../../../adapters/patterns/compile-pattern.ts";
import { isReadable, LIST_KEYWORDS, MAP_KEYWORDS, SCHEMA_KEYWORDS } from "./schema-keywords.ts";
import { isMap, type JsonMap } from "./tool-definition.ts";

export type AddSchemaNote = (path: string, message: string) => void;

type Schema = Record<string, unknown>;

/** Texts for people, and the dialect, which is 2020-12 afterwards. */
const LEFT_OUT = new Set(["description", "title", "$comment", "examples", "example", "$schema"]);

/** The repaired schema of a tool's arguments, or null if there is none to repair. */
export function repairSchema(
  schema: unknown,
  note: AddSchemaNote,
  keeps: { readonly defaults: boolean } = { defaults: true },
): Schema | null {
  if (!isMap(schema)) {
    if (schema !== undefined && schema !== null) note("$", "is not a schema and is left out");
    return null;
  }
  return repair(schema, "$", { note, root: schema, keepsDefaults: keeps.defaults });
}

type Context = {
  readonly note: AddSchemaNote;
  readonly root: JsonMap;
  readonly keepsDefaults: boolean;
};

function repair(schema: JsonMap, path: string, context: Context): Schema {
  const repaired: Schema = {};
  for (const [keyword, value] of Object.entries(schema)) {
    if (LEFT_OUT.has(keyword)) continue;
    if (keyword === "default" && !context.keepsDefaults) {
      context.note(`${path}.default`, "is documentation here and is left out");
      continue;
    }
    const keywordContext = { ...context, schema, path: `${path}.${keyword}` };
    const translate = Object.hasOwn(DIALECTS, keyword) ? DIALECTS[keyword] : undefined;
    if (translate?.(repaired, value, keywordContext) === true) continue;
    repairKeyword(repaired, keyword, value, keywordContext);
  }
  hoistRequired(repaired, schema, path, context.note);
  if (schema["nullable"] === true && typeof repaired["type"] === "string") {
    repaired["type"] = [repaired["type"], "null"];
  }
  return repaired;
}

/** `path` is the keyword's path, `schema` its parent. */
type KeywordContext = Context & { readonly path: string; readonly schema: JsonMap };

function repairKeyword(
  into: Schema,
  keyword: string,
  value: unknown,
  context: KeywordContext,
): void {
  if (!isReadable(keyword, value)) context.note(context.path, "cannot be read and is left out");
  else if (MAP_KEYWORDS.has(keyword)) into[keyword] = repairMap(value as JsonMap, context);
  else if (LIST_KEYWORDS.has(keyword)) into[keyword] = repairList(value as unknown[], context);
  else if (SCHEMA_KEYWORDS.has(keyword)) into[keyword] = child(value, context.path, context);
  else repairPlain(into, keyword, value, context);
}

/** Translations of other dialects; they return true if they have handled the keyword. */
const DIALECTS: Readonly<
  Record<string, (into: Schema, value: unknown, context: KeywordContext) => boolean>
> = {
  type: (into, value, context) => {
    repairType(into, value, context);
    return true;
  },
  items: (into, value, context) => {
    if (!Array.isArray(value)) return false;
    into["prefixItems"] = repairList(value, context);
    context.note(context.path, "is a list: written as `prefixItems`");
    return true;
  },
  // A property's `required: true` belongs in its parent's list: see hoistRequired.
  required: (_into, value) => typeof value === "boolean",
  nullable: (_into, _value, context) => {
    context.note(context.path, "is no keyword: written as the type `null`");
    return true;
  },
  exclusiveMinimum: (into, value, context) => repairExclusive(into, "minimum", value, context),
  exclusiveMaximum: (into, value, context) => repairExclusive(into, "maximum", value, context),
};

function repairPlain(into: Schema, keyword: string, value: unknown, context: KeywordContext): void {
  const problem = plainProblem(keyword, value, context.root);
  if (problem !== null) context.note(context.path, `is left out: ${problem}`);
  else if (keyword !== "required" || (value as readonly string[]).length > 0) into[keyword] = value;
}

function plainProblem(keyword: string, value: unknown, root: JsonMap): string | null {
  if (keyword === "$ref" && !resolves(String(value), root)) {
    return `\`${String(value)}\` is not in the schema itself`;
  }
  if (keyword !== "pattern") return null;
  const compiled = compilePattern(String(value));
  return compiled.ok ? null : compiled.problem;
}

function child(value: unknown, path: string, context: Context): unknown {
  return isMap(value) ? repair(value, path, context) : value;
}

function repairList(list: readonly unknown[], context: KeywordContext): readonly unknown[] {
  return list.map((item, index) => child(item, `${context.path}[${index}]`, context));
}

function repairMap(map: JsonMap, context: KeywordContext): Schema {
  const entries: [string, unknown][] = [];
  for (const [name, value] of Object.entries(map)) {
    const path = `${context.path}.${name}`;
    const problem = memberProblem(name, value, context.path);
    if (problem === null) entries.push([name, child(value, path, context)]);
    else context.note(path, `${problem} and is left out`);
  }
  return Object.fromEntries(entries);
}

function memberProblem(name: string, value: unknown, mapPath: string): string | null {
  if (name === "__proto__") return "is not allowed as a name";
  if (typeof value !== "boolean" && !isMap(value)) return "is not a schema";
  if (!mapPath.endsWith(".patternProperties")) return null;
  return compilePattern(name).ok ? null : "is not a pattern that runs in linear time";
}

/** Names that programming languages and tool lists use for JSON types. */
const TYPE_NAMES: Readonly<Record<string, string>> = {
  object: "object",
  dict: "object",
  map: "object",
  string: "string",
  str: "string",
  text: "string",
  number: "number",
  float: "number",
  double: "number",
  integer: "integer",
  int: "integer",
  long: "integer",
  boolean: "boolean",
  bool: "boolean",
  array: "array",
  list: "array",
  tuple: "array",
  set: "array",
  null: "null",
  none: "null",
  nonetype: "null",
};

const LIST_OF = /^(?:list|array|tuple|set)[([<](\w+)[)\]>]$/i;

function repairType(into: Schema, value: unknown, { path, note }: KeywordContext): void {
  const written = Array.isArray(value) ? value : [value];
  const names = written.map((name) => TYPE_NAMES[String(name).toLowerCase()]);
  const listOf = typeof value === "string" ? LIST_OF.exec(value)?.[1] : undefined;
  if (listOf !== undefined) {
    const item = TYPE_NAMES[listOf.toLowerCase()];
    into["type"] = "array";
    if (item !== undefined) into["items"] ??= { type: item };
    note(path, `\`${String(value)}\` is written as a list${item ? ` of ${item}` : ""}`);
    return;
  }
  if (names.includes(undefined) || names.length === 0) {
    note(path, `\`${String(value)}\` is not a type and is left out`);
    return;
  }
  const types = [...new Set(names as string[])];
  into["type"] = types.length === 1 ? types[0] : types;
  if (written.some((name, index) => name !== names[index])) {
    note(path, `\`${written.join(", ")}\` is written as ${types.join(", ")}`);
  }
}

/** Draft 4: `exclusiveMinimum: true` excludes `minimum` itself. */
function repairExclusive(
  into: Schema,
  bound: "minimum" | "maximum",
  value: unknown,
  context: KeywordContext,
): boolean {
  if (typeof value !== "boolean") return false;
  const limit = context.schema[bound];
  const keyword = bound === "minimum" ? "exclusiveMinimum" : "exclusiveMaximum";
  if (value && typeof limit === "number") into[keyword] = limit;
  context.note(context.path, "is a boolean: written as the bound itself");
  return true;
}

/** Moves `required: true` of a property into the parent's list. */
function hoistRequired(into: Schema, schema: JsonMap, path: string, note: AddSchemaNote): void {
  const properties = schema["properties"];
  if (!isMap(properties)) return;
  const flagged = Object.entries(properties).filter(
    ([, property]) => isMap(property) && typeof property["required"] === "boolean",
  );
  if (flagged.length === 0) return;
  const listed = Array.isArray(into["required"]) ? (into["required"] as string[]) : [];
  const mandatory = flagged.filter(([, property]) => (property as JsonMap)["required"] === true);
  const required = [...new Set([...listed, ...mandatory.map(([name]) => name)])];
  if (required.length > 0) into["required"] = required;
  for (const [name] of flagged) {
    note(`${path}.properties.${name}.required`, "is a boolean: written in the list of its parent");
  }
}

function resolves(reference: string, root: JsonMap): boolean {
  if (reference === "#") return true;
  if (!reference.startsWith("#/")) return false;
  let target: unknown = root;
  for (const raw of reference.split("/").slice(1)) {
    const key = raw.replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof target !== "object" || target === null || !Object.hasOwn(target, key)) return false;
    target = (target as JsonMap)[key];
  }
  return true;
}
