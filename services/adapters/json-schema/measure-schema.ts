/**
 * Bounds what one schema may cost. Validation time is the schema with its references written out,
 * times the value; a schema that refers to itself from several alternatives multiplies with each
 * level of the value instead, so those check values down to a depth only.
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
  /** Schemas being written out, with the place in the value where each began. */
  readonly open: Map<Schema, string>;
  /** How often a schema returns to itself, by where in the value it does. */
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

/** Keywords that look at a part of the value; the others look at the value itself. */
const ITEM_KEYWORDS = new Set([
  "items",
  "prefixItems",
  "contains",
  "additionalProperties",
  "patternProperties",
  "unevaluatedItems",
  "unevaluatedProperties",
]);
/** Hold schemas that only references use, or data. */
const SKIPPED = new Set(["$defs", "definitions", "enum", "const", "default", "examples"]);

function visit(node: unknown, path: string, depth: number, walk: Walk): void {
  if (walk.problem !== null || typeof node !== "object" || node === null) return;
  walk.nodes += 1;
  if (walk.nodes > NODES_MAX) {
    walk.problem = `the schema has more than ${NODES_MAX} nodes with its references written out`;
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
      visit(resolveLocal(value, walk.root), path, depth + 1, walk);
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

/** Anchors and ids count as the root: the dearest that they can mean in an ordinary schema. */
function resolveLocal(reference: unknown, root: Schema): unknown {
  if (typeof reference !== "string") return undefined;
  if (!reference.startsWith("#/")) return root;
  let target: unknown = root;
  for (const raw of reference.split("/").slice(1)) {
    const key = raw.replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof target !== "object" || target === null || !Object.hasOwn(target, key)) return null;
    target = (target as Schema)[key];
  }
  return target;
}

/** Whether a value has more than `max` levels of objects and lists. */
export function isDeeperThan(value: unknown, max: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (max === 0) return true;
  return Object.values(value).some((child) => isDeeperThan(child, max - 1));
}
