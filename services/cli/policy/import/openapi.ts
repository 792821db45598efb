/**
 * An OpenAPI 3 description: one tool per operation, with its parameters and the members of its JSON
 * body as arguments. GET and HEAD are reads, as HTTP defines them; DELETE is risky.
 */
import {
  isMap,
  type JsonMap,
  type ReadDefinitions,
  type ToolDefinition,
  textOf,
} from "./tool-definition.ts";

const METHODS = ["get", "head", "options", "post", "put", "patch", "delete"] as const;

type Note = (path: string, message: string) => void;

export const readOpenapi: ReadDefinitions = (json, _options, note) => {
  if (!isMap(json) || typeof json["openapi"] !== "string" || !json["openapi"].startsWith("3.")) {
    return { problem: "expected an OpenAPI 3 description: a map with `openapi: 3.x` and `paths`" };
  }
  const paths = isMap(json["paths"]) ? json["paths"] : {};
  const definitions: ToolDefinition[] = [];
  for (const [path, item] of Object.entries(paths)) {
    if (!isMap(item)) continue;
    for (const method of METHODS) {
      const operation = item[method];
      if (!isMap(operation)) continue;
      const name = nameOf(operation, method, path);
      const said: Note = (location, message) => note(name, location, message);
      definitions.push({
        name,
        schema: argumentsOf(json, item, operation, said),
        description: [operation["summary"], operation["description"]].map(textOf).join(". "),
        method,
        readOnly: null,
        risky: method === "delete",
        effects: [],
      });
    }
  }
  return definitions;
};

/** `get_/orders/{id}` becomes `get_orders_id` if the operation has no id of its own. */
function nameOf(operation: JsonMap, method: string, path: string): string {
  const id = operation["operationId"];
  if (typeof id === "string" && id !== "") return id;
  const words = path.split(/[^A-Za-z0-9]+/).filter((word) => word !== "");
  return [method, ...words].join("_");
}

function argumentsOf(root: JsonMap, item: JsonMap, operation: JsonMap, note: Note): JsonMap {
  const properties: Record<string, unknown> = {};
  const required = new Set<string>();
  const add = (name: string, schema: unknown, needed: boolean): void => {
    if (Object.hasOwn(properties, name)) note(`$.${name}`, "is given twice: the later one counts");
    properties[name] = schema;
    if (needed) required.add(name);
    else required.delete(name);
  };
  const written = [...listOf(item["parameters"]), ...listOf(operation["parameters"])];
  // An operation's parameter replaces the path's of the same name.
  const parameters = new Map(written.map((one) => resolved(root, one)).map((p) => [p["name"], p]));
  for (const [name, parameter] of parameters) {
    const { in: location, schema = {}, required: needed } = parameter;
    // The client sends headers and cookies with all calls, so they are not arguments of the tool.
    if (typeof name !== "string" || location === "cookie" || location === "header") continue;
    add(name, schema, needed === true || location === "path");
  }
  addBody(root, resolved(root, operation["requestBody"]), add, note);
  return {
    type: "object",
    properties: moved(properties),
    ...(required.size > 0 ? { required: [...required] } : {}),
    ...definitionsOf(root, properties),
  };
}

type Add = (name: string, schema: unknown, needed: boolean) => void;

/** The members of a JSON object join the parameters; any other body is the argument `body`. */
function addBody(root: JsonMap, body: JsonMap, add: Add, note: Note): void {
  const content = isMap(body["content"]) ? body["content"] : {};
  const type = Object.keys(content).find((key) => /[/+]json\b/.test(key));
  const media = type === undefined ? undefined : content[type];
  if (!isMap(media)) {
    if (Object.keys(content).length > 0) note("$.requestBody", "is not JSON and is left out");
    return;
  }
  const schema = resolved(root, media["schema"]);
  const needed = body["required"] === true;
  if (!isMap(schema["properties"])) {
    add("body", media["schema"] ?? {}, needed);
    return;
  }
  const names = listOf(schema["required"]);
  for (const [name, member] of Object.entries(schema["properties"])) {
    add(name, member, needed && names.includes(name));
  }
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** How many references are followed before they count as a cycle. */
const REFERENCES_MAX = 16;

/** Resolves the references of a value; an empty map if the target does not exist. */
function resolved(root: JsonMap, value: unknown): JsonMap {
  let node = value;
  for (let step = 0; step < REFERENCES_MAX; step += 1) {
    if (!isMap(node)) return {};
    const reference = node["$ref"];
    if (typeof reference !== "string") return node;
    node = target(root, reference);
  }
  return {};
}

function target(root: JsonMap, reference: string): unknown {
  if (!reference.startsWith("#/")) return undefined;
  let node: unknown = root;
  for (const raw of reference.slice(2).split("/")) {
    const key = raw.replaceAll("~1", "/").replaceAll("~0", "~");
    node = isMap(node) && Object.hasOwn(node, key) ? node[key] : undefined;
  }
  return node;
}

const SCHEMAS = "#/components/schemas/";

/** The shared schemas that the arguments use, directly or indirectly, as `$defs`. */
function definitionsOf(root: JsonMap, properties: JsonMap): { readonly $defs?: JsonMap } {
  const defs: Record<string, unknown> = {};
  const visit = (value: unknown): void => {
    for (const reference of referencesIn(value)) {
      const name = reference.slice(SCHEMAS.length);
      if (!reference.startsWith(SCHEMAS) || Object.hasOwn(defs, name)) continue;
      const schema = target(root, reference);
      defs[name] = moved(schema);
      visit(schema);
    }
  };
  visit(properties);
  return Object.keys(defs).length === 0 ? {} : { $defs: defs };
}

function referencesIn(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(referencesIn);
  if (!isMap(value)) return [];
  const own = typeof value["$ref"] === "string" ? [value["$ref"]] : [];
  return [...own, ...Object.values(value).flatMap(referencesIn)];
}

function moved(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(moved);
  if (!isMap(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => {
      const points = key === "$ref" && typeof inner === "string" && inner.startsWith(SCHEMAS);
      return [key, points ? inner.replace(SCHEMAS, "#/$defs/") : moved(inner)];
    }),
  );
}
