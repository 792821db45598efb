/**
 * Resources: tools that refer to one resource by arguments that the policy normalizes differently,
 * and relations between resources that no tool touches. A tool touches everything contained in its
 * resources.
 */
import { aliasesOf } from "../../../core/policy/compile-aliases.ts";
import type { PolicyDocument, ToolDocument, VariantKeys } from "../../../core/policy/document.ts";
import type { PathSegment } from "../../../core/policy/path.ts";
import type { LintRule, Report } from "./finding.ts";

/** How a placeholder is filled. */
type Filling = {
  readonly argument: string;
  readonly chain: string;
  readonly steps: number;
  readonly kind: Kind;
};

/** What a normalizer chain returns; `any`: it does not say. */
type Kind = "any" | "text" | "number" | (typeof FORMATS)[number];

const NUMBERS = new Set(["to_int", "to_number", "decimal", "minor_units"]);
const LISTS = new Set(["sort", "unique"]);
/** Normalizers that return one form and refuse other values. */
const FORMATS = ["to_bool", "e164", "email", "url", "path", "date", "datetime", "json"] as const;

/** A tool's reference to a resource. */
type ResourceUse = {
  readonly tool: string;
  readonly isWritten: boolean;
  /** With unnamed placeholders. */
  readonly shape: string;
  readonly fillings: readonly Filling[];
  readonly path: readonly PathSegment[];
};

/**
 * A write under one spelling does not invalidate a read under another, and runs beside its
 * duplicate.
 */
export const lintOneThing: LintRule = (document, report) => {
  if (document.deduplication?.strategy === "byte_hash") return;
  const all = Object.entries(document.tool_schemas ?? {}).flatMap(([name, tool]) =>
    listResourceUses(document, name, tool),
  );
  const reported = new Set<string>();
  all.forEach((one, index) => {
    for (const other of all.slice(index + 1)) {
      if (areOneThing(one, other)) compareFillings(one, other, reported, report);
    }
  });
};

function listResourceUses(
  document: PolicyDocument,
  tool: string,
  entry: ToolDocument,
): readonly ResourceUse[] {
  const aliased = aliasesOf(document.aliases, tool);
  const listUses = (
    written: string,
    isWritten: boolean,
    path: readonly PathSegment[],
  ): readonly ResourceUse[] => {
    const resource = aliased(written);
    const names = [...resource.matchAll(PLACEHOLDER)].map(([, name = ""]) => name.trim());
    if (names.length === 0 || names.some((name) => name.startsWith("result."))) return [];
    const fillings = names.map((name) => fillingOf(entry, name));
    return [{ tool, isWritten, shape: shapeOf(resource), fillings, path }];
  };
  const base = ["tool_schemas", tool];
  return [
    ...(entry.effects ?? []).flatMap(({ resource, kind }, at) =>
      listUses(resource, kind !== "read", [...base, "effects", at]),
    ),
    ...(entry.reads ?? []).flatMap((resource, at) =>
      listUses(resource, false, [...base, "reads", at]),
    ),
  ];
}

function fillingOf(entry: ToolDocument, argument: string): Filling {
  const { normalizers = {} } = entry;
  const steps = Object.hasOwn(normalizers, argument) ? (normalizers[argument] ?? []) : [];
  const texts = steps.map(({ name, arguments: parameters }) =>
    parameters.length === 0 ? name : `${name}(${parameters.join(", ")})`,
  );
  const kind = kindOf(steps.map(({ name }) => name));
  return { argument, chain: texts.join(", "), steps: steps.length, kind };
}

function kindOf(names: readonly string[]): Kind {
  if (names.length === 0) return "any";
  const format = FORMATS.find((one) => names.includes(one));
  if (format !== undefined) return format;
  if (names.some((one) => LISTS.has(one))) return "json";
  return names.some((one) => NUMBERS.has(one)) ? "number" : "text";
}

/**
 * Whether one chain could replace the other: an email in place of a number would refuse every call.
 */
function areAlike(one: Filling, other: Filling): boolean {
  if (one.kind === other.kind) return true;
  if (one.kind !== "any" && other.kind !== "any") return false;
  const isPlain = [one.kind, other.kind].some((kind) => kind === "text" || kind === "number");
  return isPlain || lastName(one) === lastName(other);
}

function lastName({ argument }: Filling): string {
  return argument.slice(argument.lastIndexOf(".") + 1);
}

function areOneThing(one: ResourceUse, other: ResourceUse): boolean {
  if (one.tool === other.tool || (!one.isWritten && !other.isWritten)) return false;
  const isIn = (inner: string, outer: string) => inner === outer || inner.startsWith(`${outer}/`);
  return isIn(one.shape, other.shape) || isIn(other.shape, one.shape);
}

function compareFillings(
  one: ResourceUse,
  other: ResourceUse,
  reported: Set<string>,
  report: Report,
): void {
  one.fillings.forEach((mine, index) => {
    const theirs = other.fillings[index];
    if (theirs === undefined || theirs.chain === mine.chain || !areAlike(mine, theirs)) return;
    const isShorter = mine.steps < theirs.steps;
    const [lacking, less] = isShorter ? [one, mine] : [other, theirs];
    const [having, more] = isShorter ? [other, theirs] : [one, mine];
    const key = JSON.stringify([lacking.tool, less.argument]);
    if (reported.has(key)) return;
    reported.add(key);
    const forms = less.chain === "" ? "as it is written" : `after \`[${less.chain}]\``;
    const message = `\`${less.argument}\` of \`${lacking.tool}\` refers to the same resource as \`${more.argument}\` of \`${having.tool}\`, but is used ${forms}, and the other after \`[${more.chain}]\`: one resource may have two names`;
    const remedy = `write \`normalizers: { ${less.argument}: [${more.chain}] }\` for \`${lacking.tool}\`, too`;
    report("warning", "two-forms", lacking.path, message, remedy);
  });
}

/**
 * `derives` needs the two resources themselves; `contains` also counts resources contained in a
 * part.
 */
export const lintEdges: LintRule = (document, report) => {
  const derives = document.edges?.derives ?? [];
  if (derives.length === 0) return;
  const resources = [
    ...new Set(Object.keys(document.tool_schemas ?? {}).flatMap(namesOf(document))),
  ];
  derives.forEach((sides, index) => {
    sides.forEach((side, at) => {
      const shape = shapeOf(side);
      const inner = resources.find((one) => shapeOf(one).startsWith(`${shape}/`));
      if (inner === undefined || resources.some((one) => shapeOf(one) === shape)) return;
      const message = `no tool acts on \`${side}\` itself, only on what it contains, such as \`${inner}\`, to which the edge does not apply`;
      const remedy = "name what the tools act on, on both sides";
      report("warning", "idle-edge", ["edges", "derives", index, at], message, remedy);
    });
  });
};

/** Resources that the tool changes or reads, in any of its variants. */
function namesOf(document: PolicyDocument): (tool: string) => readonly string[] {
  return (tool) => {
    const entry = document.tool_schemas?.[tool] ?? {};
    const { rules = [], otherwise = {} } = entry.variants ?? {};
    const ofCommands = entry.commands?.rules ?? [];
    const all: readonly VariantKeys[] = [entry, ...rules, ...ofCommands, otherwise];
    const written = all.flatMap(({ effects = [], reads = [] }) => [
      ...effects.map(({ resource }) => resource),
      ...reads,
    ]);
    return written.map(aliasesOf(document.aliases, tool));
  };
}

export const PLACEHOLDER = /\{([^{}]*)\}/g;

/** The template with unnamed placeholders: tools name the arguments of one resource differently. */
function shapeOf(resource: string): string {
  return resource.replace(PLACEHOLDER, "{}");
}
