/**
 * Paths to arguments that no call has, by the schema of the tool: a member that is not there, or a list that is not gone
 * into with `[]`. An effect on such a resource is never declared, or refuses every call.
 */
import { aliasesOf } from "../../../core/policy/compile-aliases.ts";
import { isExclusive } from "../../../core/policy/compile-effects.ts";
import type { PolicyDocument, ToolDocument, VariantKeys } from "../../../core/policy/document.ts";
import type { PathSegment } from "../../../core/policy/path.ts";
import { isOfResult } from "../../../core/policy/pending-resource.ts";
import type { LintRule, Report } from "./finding.ts";
import { PLACEHOLDER } from "./resources.ts";

type Schema = Readonly<Record<string, unknown>>;

type Fault =
  /** The schema has no such member; `isClosed`: a call that has it is refused. */
  | { readonly kind: "missing"; readonly isClosed: boolean }
  /** The path goes on from a list as if it were an object; `path`: as it should be. */
  | { readonly kind: "list"; readonly list: string; readonly path: string }
  /** The path goes on from a value without members. */
  | { readonly kind: "scalar"; readonly value: string }
  /** The path goes into a value as if it were a list. */
  | { readonly kind: "no_list"; readonly value: string };

/** Keywords that may allow members which `properties` does not name. */
const OPEN = ["$ref", "anyOf", "oneOf", "allOf", "if", "patternProperties"];

function isSchema(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** What the schema says against a path; null: nothing, or not enough is known. */
export function findPathFault(schema: unknown, path: string): Fault | null {
  const steps = path.split(".");
  let at: unknown = schema;
  for (const [index, step] of steps.entries()) {
    if (!isSchema(at) || OPEN.some((key) => isSchema(at) && at[key] !== undefined)) return null;
    const before = steps.slice(0, index).join(".");
    const fault = faultOfHolder(at, before, steps.slice(index).join("."));
    if (fault !== null) return fault;
    const name = step.replace(/(?:\[\])+$/, "");
    const inner = memberOf(at, name);
    if (inner === undefined) return missingFrom(at);
    const value = [...steps.slice(0, index), name].join(".");
    const element = elementOf(inner, (step.length - name.length) / 2, value);
    if ("kind" in element) return element;
    at = element.schema;
  }
  return null;
}

function typesOf(schema: unknown): readonly unknown[] {
  return isSchema(schema) && schema["type"] !== undefined ? [schema["type"]].flat() : [];
}

/** Whether a value at `holder` can have members; `rest` is where the path goes on. */
function faultOfHolder(schema: Schema, holder: string, rest: string): Fault | null {
  const types = typesOf(schema);
  if (holder === "" || types.length === 0 || types.includes("object")) return null;
  if (!types.includes("array")) return { kind: "scalar", value: holder };
  return { kind: "list", list: holder, path: `${holder}[].${rest}` };
}

function memberOf(schema: Schema, name: string): unknown {
  const { properties } = schema;
  return isSchema(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined;
}

function missingFrom(schema: Schema): Fault | null {
  const { properties, additionalProperties: more } = schema;
  if (!isSchema(properties) || (more !== undefined && more !== false)) return null;
  return { kind: "missing", isClosed: more === false };
}

function elementOf(
  schema: unknown,
  depth: number,
  value: string,
): Fault | { readonly schema: unknown } {
  let at = schema;
  for (let left = depth; left > 0; left -= 1) {
    const types = typesOf(at);
    if (types.length > 0 && !types.includes("array")) return { kind: "no_list", value };
    at = isSchema(at) ? at["items"] : undefined;
  }
  return { schema: at };
}

export const lintArgumentPaths: LintRule = (document, report) => {
  for (const [name, tool] of Object.entries(document.tool_schemas ?? {})) {
    const base = ["tool_schemas", name];
    const { variants, commands } = tool;
    lintKeys(document, name, tool, tool, base, report);
    (variants?.rules ?? []).forEach((rule, index) => {
      lintKeys(document, name, tool, rule, [...base, "variants", "rules", index], report);
    });
    if (variants?.otherwise !== undefined) {
      lintKeys(
        document,
        name,
        tool,
        variants.otherwise,
        [...base, "variants", "otherwise"],
        report,
      );
    }
    (commands?.rules ?? []).forEach((rule, index) => {
      lintKeys(document, name, tool, rule, [...base, "commands", "rules", index], report);
    });
  }
};

/** One use of a path to an argument. */
interface Use {
  readonly key: string;
  readonly argument: string;
  readonly path: readonly PathSegment[];
  /** What becomes of the resource that the argument should name; null: it names none. */
  readonly outcome: string | null;
  readonly refusesAll: boolean;
}

function lintKeys(
  document: PolicyDocument,
  name: string,
  { input_schema }: ToolDocument,
  keys: VariantKeys,
  base: readonly PathSegment[],
  report: Report,
): void {
  if (input_schema === undefined) return;
  const uses = [...fieldUses(keys, base), ...templateUses(document, name, keys, base)];
  for (const use of uses) {
    const fault = findPathFault(input_schema, use.argument);
    if (fault !== null) reportFault(fault, use, name, report);
    else if (use.outcome !== null) reportWholeList(input_schema, use, report);
  }
}

function fieldUses(keys: VariantKeys, base: readonly PathSegment[]): readonly Use[] {
  const plain = { outcome: null, refusesAll: false };
  return [
    ...(keys.canonical_fields ?? []).map((argument, at) => ({
      ...plain,
      key: "canonical_fields",
      argument,
      path: [...base, "canonical_fields", at],
    })),
    ...Object.keys(keys.normalizers ?? {}).map((argument) => ({
      ...plain,
      key: "normalizers",
      argument,
      path: [...base, "normalizers", argument],
    })),
  ];
}

function templateUses(
  document: PolicyDocument,
  tool: string,
  keys: VariantKeys,
  base: readonly PathSegment[],
): readonly Use[] {
  const aliased = aliasesOf(document.aliases, tool);
  const effects = (keys.effects ?? []).map((effect, at) => ({
    key: "effects",
    resource: aliased(effect.resource),
    path: [...base, "effects", at],
    refusesAll: effect.kind !== "read" && isExclusive(effect),
  }));
  const reads = (keys.reads ?? []).map((resource, at) => ({
    key: "reads",
    resource: aliased(resource),
    path: [...base, "reads", at],
    refusesAll: false,
  }));
  return [...effects, ...reads].flatMap(({ resource, refusesAll, ...use }) =>
    [...resource.matchAll(PLACEHOLDER)]
      .map(([, written = ""]) => written.trim())
      .filter((argument) => !isOfResult(argument))
      .map((argument) => {
        const outcome = refusesAll ? "every call is refused" : "the resource is never named";
        return { ...use, argument, outcome, refusesAll };
      }),
  );
}

function reportFault(fault: Fault, use: Use, tool: string, report: Report): void {
  const { key, argument, path, outcome } = use;
  const then = outcome === null ? "" : `: ${outcome}`;
  switch (fault.kind) {
    case "missing": {
      const message = `\`${argument}\` in \`${key}\` is not an argument in the schema of \`${tool}\``;
      const isFatal = fault.isClosed && use.refusesAll;
      const severity = isFatal ? "error" : "warning";
      const remedy = "correct the name, or the schema";
      report(severity, "unknown-argument", path, isFatal ? message + then : message, remedy);
      return;
    }
    case "list": {
      const message = `\`${argument}\` in \`${key}\` goes through the list \`${fault.list}\` as if it were one object${then}`;
      report("error", "unfilled-path", path, message, `write \`${fault.path}\`, for each element`);
      return;
    }
    case "scalar": {
      const message = `\`${argument}\` in \`${key}\` goes into \`${fault.value}\`, which has no members in the schema of \`${tool}\`${then}`;
      report("error", "unfilled-path", path, message, "correct the path, or the schema");
      return;
    }
    case "no_list": {
      const message = `\`${fault.value}\` is no list in the schema of \`${tool}\`: \`${argument}\` means its one value`;
      report("warning", "unfilled-path", path, message, `write it without \`[]\``);
    }
  }
}

/** A resource that is named by a list as a whole: no other call has it, unless it has the same list. */
function reportWholeList(schema: unknown, { argument, path, key }: Use, report: Report): void {
  const end = argument.split(".").reduce((at: unknown, step) => {
    const name = step.replace(/(?:\[\])+$/, "");
    const inner = isSchema(at) ? memberOf(at, name) : undefined;
    const element = elementOf(inner, (step.length - name.length) / 2, name);
    return "kind" in element ? undefined : element.schema;
  }, schema);
  if (!typesOf(end).includes("array")) return;
  const message = `\`${argument}\` in \`${key}\` is a list, and names one resource: a call about one of its elements has another`;
  report(
    "info",
    "whole-list",
    path,
    message,
    `write \`{${argument}[]}\` for a resource for each element`,
  );
}
