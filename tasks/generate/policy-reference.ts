/** `docs/policy-reference.md`: every key of a policy, read from the vocabulary. */
import { z } from "zod";
import { blockShape } from "../../services/adapters/policy/vocabulary/blocks.ts";

type Schema = z.core.$ZodType;

const HEAD = `# Policy reference

Every key of a policy file, with its type, its default and its meaning. To learn how policies work,
read [policy.md](policy.md); reason codes, which \`checks\` takes, are in [reason-codes.md](reason-codes.md).

A block may stand at top level or under \`policy_engine:\`. In a path, \`*\` is any name and \`[]\` any
item of a list. A key without a default is off, or unlimited, while it is not written. This page is
written by \`npm run schemas\` from \`services/adapters/policy/vocabulary\`.
`;

export function policyReferencePage(): string {
  const sections = Object.entries(blockShape).map(([key, schema]) => blockSection(key, schema));
  return [HEAD, ...sections].join("\n");
}

function blockSection(key: string, schema: Schema): string {
  const described = new Map<Schema, string>();
  const lines: string[] = [];
  addKeys(schema, key, described, lines);
  const { meaning, standard } = describe(schema);
  const facts = [typeOf(schema), ...(standard === null ? [] : [`default ${standard}`])];
  return [
    `## \`${key}\`\n`,
    `${meaning} *(${facts.join("; ")})*\n`,
    ...(lines.length > 0 ? [...lines, ""] : []),
  ].join("\n");
}

/** Keys that a rule shares with the entry of the tool are described once. */
function addKeys(
  schema: Schema,
  path: string,
  described: Map<Schema, string>,
  lines: string[],
): void {
  const shared: string[] = [];
  for (const [step, child] of childrenOf(schema)) {
    const at = step === "[]" ? `${path}[]` : `${path}.${step}`;
    if (step === "*" || step === "[]") {
      addKeys(child, at, described, lines);
    } else if (described.has(child)) {
      shared.push(`\`${step}\``);
    } else {
      described.set(child, at);
      lines.push(keyLine(at, child));
      addKeys(child, at, described, lines);
    }
  }
  if (shared.length === 0) return;
  lines.push(`- \`${path}\` also takes the keys of the same name above: ${shared.join(", ")}.`);
}

function keyLine(path: string, schema: Schema): string {
  const { meaning, standard } = describe(schema);
  const facts = [
    typeOf(schema),
    ...(definitionOf(schema).type === "optional" ? [] : ["required"]),
    ...(standard === null ? [] : [`default ${standard}`]),
  ];
  return `- **\`${path}\`** *(${facts.join("; ")})*: ${meaning}`;
}

interface Description {
  readonly meaning: string;
  /** The default of a key, where its description says it. */
  readonly standard: string | null;
}

/** A description ends in its default, or marks one of its words as such. */
function describe(schema: Schema): Description {
  const text = z.globalRegistry.get(schema as z.ZodType)?.description ?? "";
  const last = /^(.*?) ?Default:? (.+?)\.$/.exec(text);
  if (last !== null) return { meaning: last[1] || text, standard: last[2] ?? null };
  const word = /(\w+) \(default\)/.exec(text);
  return { meaning: text, standard: word === null ? null : `\`${word[1]}\`` };
}

/** What may be written, in words. */
function typeOf(schema: Schema): string {
  const def = definitionOf(schema);
  switch (def.type) {
    case "optional":
      return typeOf(def.innerType);
    case "pipe":
      return typeOf(def.in);
    case "union":
      return [...new Set(def.options.map(typeOf))].join(", or ");
    case "enum":
      return Object.values(def.entries)
        .map((word) => `\`${word}\``)
        .join(", ");
    case "literal":
      return def.values.map((word) => `\`${word}\``).join(", ");
    case "null":
      return "`null`";
    case "array":
      return `list of ${plural(typeOf(def.element))}`;
    case "tuple":
      return `pair of ${plural(typeOf(def.items[0] as Schema))}`;
    case "object":
    case "record":
      return "map";
    case "string":
      return "text";
    case "number":
      return rangeOf(schema as z.ZodNumber);
    case "boolean":
      return "`true` or `false`";
    default:
      return "any value";
  }
}

function plural(type: string): string {
  return type.replace(/^(map|text|pair|whole number|list)\b/, "$1s");
}

/** Bounds that only exclude absurd numbers. */
const FAR_BOUNDS = [1_000_000, 366 * 86_400, 366 * 86_400_000];

function rangeOf({ minValue, maxValue, isInt }: z.ZodNumber): string {
  const kind = isInt ? "whole number" : "number";
  if (minValue === null || maxValue === null || minValue === Number.NEGATIVE_INFINITY) return kind;
  const to = FAR_BOUNDS.includes(maxValue) ? "" : ` to ${maxValue}`;
  return `${kind} from ${minValue}${to}`;
}

function childrenOf(schema: Schema): readonly (readonly [step: string, child: Schema])[] {
  const def = definitionOf(schema);
  switch (def.type) {
    case "optional":
      return childrenOf(def.innerType);
    case "pipe":
      return childrenOf(def.in);
    case "union":
      return unique(def.options.flatMap(childrenOf));
    case "object":
      return Object.entries(def.shape);
    case "record":
      return [["*", def.valueType]];
    case "array":
      return [["[]", def.element]];
    default:
      return [];
  }
}

/** Alternatives have some keys in common, as `name` and `action` of each kind of tier. */
function unique(children: ReturnType<typeof childrenOf>): ReturnType<typeof childrenOf> {
  const steps = [...new Set(children.map(([step]) => step))];
  return steps.map((step) => {
    const forms = new Set(children.filter(([other]) => other === step).map(([, child]) => child));
    const [first, ...others] = [...forms] as [z.ZodType, ...z.ZodType[]];
    if (others.length === 0) return [step, first];
    return [step, z.union([first, ...others]).describe(first.description ?? "")];
  });
}

function definitionOf(schema: Schema): z.core.$ZodTypes["_zod"]["def"] {
  return schema._zod.def as z.core.$ZodTypes["_zod"]["def"];
}
