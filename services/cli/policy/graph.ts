/**
 * `callgate policy graph`: the declared effects of a policy's tools, as a graph of tools and
 * resources.
 */
import { isExclusive } from "../../core/policy/compile-effects.ts";
import type { EffectKind, PolicyDocument, ToolDocument } from "../../core/policy/document.ts";
import { openPolicy } from "../../gate/gate-policy.ts";
import { EXIT_OK, type ExitCode } from "../../process/exit-error.ts";
import { openResult, refuseOverwriting } from "../output/result-writer.ts";
import type { Terminal } from "../output/terminal.ts";

export async function runGraph(
  paths: readonly string[],
  format: GraphFormat,
  out: string | undefined,
  terminal: Terminal,
): Promise<ExitCode> {
  refuseOverwriting(out, paths);
  const { document } = await openPolicy(paths);
  const result = await openResult(terminal, out);
  try {
    await result.write(renderGraph(policyGraph(document), format));
  } finally {
    await result.close();
  }
  return EXIT_OK;
}

interface GraphLink {
  readonly from: string;
  readonly to: string;
  /** The tool's effect on the resource, or the relation of two resources. */
  readonly kind: EffectKind | "within" | "contains" | "derives";
  /** May happen once in a conversation, by whichever tool. */
  readonly exclusive: boolean;
  /** Only the result of a call contains the resource's name. */
  readonly byResult: boolean;
}

interface PolicyGraph {
  readonly tools: readonly string[];
  readonly resources: readonly string[];
  /** From a tool to a resource. */
  readonly effects: readonly GraphLink[];
  /** From a contained resource to its ancestor, or between two names of one effect. */
  readonly relations: readonly GraphLink[];
}

const BY_RESULT = /\{\s*result\./;

/** Omits tools that declare neither effects nor reads. */
export function policyGraph(document: PolicyDocument): PolicyGraph {
  const nameOf = resourceNames(document);
  const declared = Object.entries(document.tool_schemas ?? {}).flatMap(([name, tool]) =>
    linksOf(name, tool),
  );
  // An argument describes a resource better than the result that makes it.
  for (const { to, byResult } of declared) if (!byResult) nameOf(to);
  const effects = declared.map((one) => ({ ...one, to: nameOf(one.to) }));
  const { contains = [], derives = [] } = document.edges ?? {};
  const edges = [
    ...contains.map(([whole, part]) => link(nameOf(part), nameOf(whole), "contains")),
    ...derives.map(([source, derived]) => link(nameOf(source), nameOf(derived), "derives")),
  ];
  const endpoints = [
    ...effects.map(({ to }) => to),
    ...edges.flatMap(({ from, to }) => [from, to]),
  ];
  const resources = [...new Set(endpoints)].sort();
  const within = resources.flatMap((resource) => {
    const whole = resources.filter((other) => resource.startsWith(`${other}/`)).at(-1);
    return whole === undefined ? [] : [link(resource, whole, "within")];
  });
  return {
    tools: [...new Set(effects.map(({ from }) => from))],
    resources,
    effects,
    relations: [...within, ...edges],
  };
}

function link(from: string, to: string, kind: GraphLink["kind"]): GraphLink {
  return { from, to, kind, exclusive: false, byResult: BY_RESULT.test(to) };
}

/**
 * Placeholder names do not distinguish resources: a resource gets the name that was written first.
 */
function resourceNames(document: PolicyDocument): (resource: string) => string {
  const names = new Map<string, string>();
  const nameOf = (resource: string): string => {
    const segments = resource.split("/");
    const shape = segments.map((segment) => segment.replace(/\{[^}]*\}/g, "{}")).join("/");
    const existing = names.get(shape);
    if (existing !== undefined) return existing;
    // The first segments take their names from the ancestor.
    const whole = segments.length > 1 ? `${nameOf(segments.slice(0, -1).join("/"))}/` : "";
    names.set(shape, whole + (segments.at(-1) ?? ""));
    return names.get(shape) ?? resource;
  };
  for (const { resource } of document.aliases ?? []) nameOf(resource);
  return nameOf;
}

function linksOf(name: string, tool: ToolDocument): GraphLink[] {
  const links = (tool.effects ?? []).map(
    (effect): GraphLink => ({
      from: name,
      to: effect.resource,
      kind: effect.kind,
      exclusive: isExclusive(effect),
      byResult: BY_RESULT.test(effect.resource),
    }),
  );
  for (const resource of tool.reads ?? []) links.push(link(name, resource, "read"));
  if (tool.side_effect_resource !== undefined) {
    const fields = tool.canonical_fields ?? ["*"];
    const to = [tool.side_effect_resource, ...fields.map((field) => `{${field}}`)].join("/");
    links.push({ from: name, to, kind: "custom", exclusive: true, byResult: false });
  }
  return links;
}

type GraphFormat = "text" | "dot";

export function renderGraph(graph: PolicyGraph, format: GraphFormat): string {
  switch (format) {
    case "text":
      return asText(graph);
    case "dot":
      return asDot(graph);
  }
}

function labelOf({ kind, exclusive, byResult }: GraphLink): string {
  return `${kind}${exclusive ? ", once" : ""}${byResult ? ", from its result" : ""}`;
}

function asText({ resources, effects, relations }: PolicyGraph): string {
  if (resources.length === 0) return "the policy declares no effects and no reads\n";
  const lines = resources.flatMap((resource) => [
    resource,
    ...effects
      .filter(({ to }) => to === resource)
      .map((effect) => `  ${effect.from}: ${labelOf(effect)}`),
    ...relations
      .filter(({ from }) => from === resource)
      .map(
        ({ kind, to }) =>
          `  ${kind === "derives" ? "is the same effect as" : "is contained in"} ${to}`,
      ),
  ]);
  return `${lines.join("\n")}\n`;
}

function asDot({ tools, resources, effects, relations }: PolicyGraph): string {
  const quote = (text: string): string => JSON.stringify(text);
  const node = (kind: string, name: string): string => quote(`${kind}: ${name}`);
  const lines = [
    "digraph policy {",
    "  rankdir=LR;",
    ...tools.map((name) => `  ${node("tool", name)} [label=${quote(name)}, shape=box];`),
    ...resources.map(
      (name) => `  ${node("resource", name)} [label=${quote(name)}, shape=ellipse];`,
    ),
    ...effects.map(
      (one) =>
        `  ${node("tool", one.from)} -> ${node("resource", one.to)} [label=${quote(labelOf(one))}];`,
    ),
    ...relations.map(
      (one) =>
        `  ${node("resource", one.from)} -> ${node("resource", one.to)} [label=${quote(one.kind)}, style=dashed];`,
    ),
    "}",
  ];
  return `${lines.join("\n")}\n`;
}
