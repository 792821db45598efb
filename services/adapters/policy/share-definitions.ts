/**
 * Moves the parts of a JSON Schema that occur several times into definitions, so that the schema says each
 * of them once. What is valid stays the same; descriptions stay at the keys that they belong to.
 */

export type SchemaNode = { [keyword: string]: unknown };

/** Shorter parts are as long as a reference to them. */
const SHORTEST = 120;

interface Style {
  /** The keyword of the definitions. */
  readonly keyword: "$defs" | "definitions";
  /** Whether other keywords count beside `$ref`; in draft-07 they do not. */
  readonly countsBesideRef: boolean;
}

/** `root` is left as it is. Definitions have the name of the key that first needs them. */
export function shareDefinitions(root: SchemaNode, style: Style): SchemaNode {
  const counts = new Map<string, number>();
  count(root, counts);
  const shared: Shared = { counts, style, names: new Map(), definitions: {} };
  const schema = mapChildren(root, "policy", (node, key) => shareNode(node, key, shared));
  return { ...schema, [style.keyword]: shared.definitions };
}

interface Shared {
  readonly counts: ReadonlyMap<string, number>;
  readonly style: Style;
  /** The name of a definition by the text of its schema. */
  readonly names: Map<string, string>;
  readonly definitions: Record<string, SchemaNode>;
}

/** Counts each part without its description. Parts of a part that was counted before are not counted again. */
function count(node: SchemaNode, counts: Map<string, number>): void {
  mapChildren(node, "", (child) => {
    const text = textOf(child);
    const before = counts.get(text) ?? 0;
    counts.set(text, before + 1);
    if (before === 0) count(child, counts);
    return child;
  });
}

function textOf({ description: _description, ...rest }: SchemaNode): string {
  return JSON.stringify(rest);
}

function shareNode(node: SchemaNode, key: string, shared: Shared): SchemaNode {
  const { description, ...rest } = node;
  const text = JSON.stringify(rest);
  const inner = (child: SchemaNode, name: string): SchemaNode => shareNode(child, name, shared);
  const isShared = text.length >= SHORTEST && (shared.counts.get(text) ?? 0) > 1;
  if (!isShared) return mapChildren(node, key, inner);
  const { names, definitions, style } = shared;
  let name = names.get(text);
  if (name === undefined) {
    name = freeName(key, definitions);
    names.set(text, name);
    // Before its parts, so that they get other names.
    definitions[name] = {};
    definitions[name] = mapChildren(rest, key, inner);
  }
  const ref = { $ref: `#/${style.keyword}/${name}` };
  if (description === undefined) return ref;
  return style.countsBesideRef ? { description, ...ref } : { description, allOf: [ref] };
}

function freeName(key: string, definitions: Readonly<Record<string, SchemaNode>>): string {
  if (!Object.hasOwn(definitions, key)) return key;
  let number = 2;
  while (Object.hasOwn(definitions, `${key}_${number}`)) number += 1;
  return `${key}_${number}`;
}

type Change = (child: SchemaNode, key: string) => SchemaNode;

/** The schema with each schema in it changed; `key`: the key whose value the schema describes. */
function mapChildren(node: SchemaNode, key: string, change: Change): SchemaNode {
  return Object.fromEntries(
    Object.entries(node).map(([keyword, value]) => [
      keyword,
      mapKeyword(keyword, value, key, change),
    ]),
  );
}

function mapKeyword(keyword: string, value: unknown, key: string, change: Change): unknown {
  if (keyword === "properties" && isNode(value)) {
    return Object.fromEntries(
      Object.entries(value).map(([name, child]) => [name, change(child as SchemaNode, name)]),
    );
  }
  if (ONE.includes(keyword) && isNode(value)) return change(value, key);
  if (!MANY.includes(keyword) || !Array.isArray(value)) return value;
  return (value as unknown[]).map((child) => (isNode(child) ? change(child, key) : child));
}

/** Keywords whose value is a schema, or a list of schemas. */
const ONE: readonly string[] = [
  "items",
  "additionalProperties",
  "additionalItems",
  "propertyNames",
];
const MANY: readonly string[] = ["anyOf", "oneOf", "allOf", "items", "prefixItems"];

function isNode(value: unknown): value is SchemaNode {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
