/** Renders the graph of a policy as text, and as DOT for Graphviz. */
import type { GraphLink, PolicyGraph } from "./policy-graph.ts";

export type GraphFormat = "text" | "dot";

export function renderGraph(graph: PolicyGraph, format: GraphFormat): string {
  switch (format) {
    case "text":
      return asText(graph);
    case "dot":
      return asDot(graph);
  }
}

function labelOf({ kind, exclusive, byResult }: GraphLink): string {
  return `${kind}${exclusive ? ", once" : ""}${byResult ? ", named by its result" : ""}`;
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
      .map(({ kind, to }) => `  ${kind === "derives" ? "is one effect with" : "lies in"} ${to}`),
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
