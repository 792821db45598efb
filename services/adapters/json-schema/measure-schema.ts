/**
 * Bounds the cost of one schema. Validation time grows with the size of the schema, with its
 * references expanded, times the size of the value. A schema that refers to itself from several
 * alternatives multiplies the time with each level of the value, so the depth of the value is
 * limited.
 */
type Schema = Readonly<Record<string, unknown>>;

export type SchemaMeasure =
  | { readonly ok: true; readonly depthMax: number | null; readonly isRecursive: boolean }
  | { readonly ok: false; readonly problem: string };

/** Bounds of one schema. The largest of 552 recorded tools has 46 nodes in 7 levels. */
const NODES_MAX = 20_000;
const DEPTH_MAX = 64;

/** Visits of one value that a recursive schema may need, about 10 ms. */
const VISITS_MAX = 200_000;

type Walk = {
  readonly root: Schema;
  /** Schemas in expansion, with the path in the value at which each began. */
  readonly open: Map<Schema, string>;
  /** How often a schema refers to itself, by the path in the value. */
  readonly returns: Map<string, number>;
  nodes: number;
  problem: string | null;
};

export function measureSchema(schema: Schema): SchemaMeasure {
  const walk: Walk = { root: schema, open: new Map(), returns: new Map(), nodes: 0, problem: null };
  visit(schema, "", 1, walk);
  if (walk.problem !== null) return { ok: false, problem: walk.problem };
  const isRecursive = walk.returns.size > 0;
  const branches = Math.max(1, ...walk.returns.values());
  const depthMax = branches === 1 ? null : Math.floor(Math.log(VISITS_MAX) / Math.log(branches));
  return { ok: true, depthMax, isRecursive };
}

/** Keywords that apply to parts of the value; the others apply to the value itself. */
const ITEM_KEYWORDS = new Set([
  "items",
  "prefixItems",
  "contains",
  "additionalProperties",
  "patternProperties",
  "unevaluatedItems",
  "unevaluatedProperties",
]);
/** Keywords whose content is data, or schemas that only references use. */
const SKIPPED = new Set(["$defs", "definitions", "enum", "const", "default", "examples"]);

function visit(node: unknown, path: string, depth: number, walk: Walk): void {
  if (walk.problem !== null || typeof node !== "object" || node === null) return;
  walk.nodes += 1;
  if (walk.nodes > NODES_MAX) {
    walk.problem = `the schema has more than ${NODES_MAX} nodes with its references expanded`;
  } else if (depth > DEPTH_MAX) walk.problem = `the schema is deeper than ${DEPTH_MAX} levels`;
  else if (Array.isArray(node)) for (const item of node) visit(item, path, depth + 1, walk);
  else visitSchema(node as Schema, path, depth, walk);
}

function visitSchema(schema: Schema, path: string, depth: number, walk: Walk): void {
  const began = walk.open.get(schema);
  if (began !== undefined) {
    const inside = path.slice(began.length);
    walk.returns.set(inside, (walk.returns.get(inside) ?? 0) + 1);
    return;
  }
  walk.open.set(schema, path);
  for (const [keyword, value] of Object.entries(schema)) {
    if (SKIPPED.has(keyword)) continue;
    if (keyword === "properties") visitProperties(value, path, depth, walk);
    else if (keyword === "$ref" || keyword === "$dynamicRef") {
      visit(resolveReference(value, walk.root), path, depth + 1, walk);
    } else visit(value, ITEM_KEYWORDS.has(keyword) ? `${path}/*` : path, depth + 1, walk);
  }
  walk.open.delete(schema);
}

function visitProperties(properties: unknown, path: string, depth: number, walk: Walk): void {
  if (typeof properties !== "object" || properties === null) return;
  for (const [name, property] of Object.entries(properties)) {
    visit(property, `${path}/${JSON.stringify(name)}`, depth + 1, walk);
  }
}

/** References by anchor or id count as the root, the most expensive schema that they can mean. */
function resolveReference(reference: unknown, root: Schema): unknown {
  if (typeof reference !== "string") return undefined;
  return reference.startsWith("#/") ? followPointer(reference, root) : root;
}

/** Finds the value at a JSON pointer such as `#/$defs/item`; undefined where none is there. */
function followPointer(pointer: string, root: unknown): unknown {
  let target = root;
  for (const raw of pointer.split("/").slice(1)) {
    const key = raw.replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof target !== "object" || target === null || !Object.hasOwn(target, key)) {
      return undefined;
    }
    target = (target as Schema)[key];
  }
  return target;
}

/** True where a value has more than `max` levels of objects and lists. */
export function isDeeperThan(value: unknown, max: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (max === 0) return true;
  return Object.values(value).some((child) => isDeeperThan(child, max - 1));
}
