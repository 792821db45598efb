/** The graph of a policy as text, in the language of Graphviz, and as a picture. */
import type { GraphLink, PolicyGraph } from "./policy-graph.ts";

export type GraphFormat = "text" | "dot" | "svg";

export function renderGraph(graph: PolicyGraph, format: GraphFormat): string {
  switch (format) {
    case "text":
      return asText(graph);
    case "dot":
      return asDot(graph);
    case "svg":
      return asSvg(graph);
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

/** Two columns, tools and resources; sizes in pixels. */
const ROW = 48;
const TOP = 40;
const BOX = { width: 220, height: 28 };
const TOOLS_X = 20;
const RESOURCES_X = 460;
const WIDTH = 900;

function asSvg({ tools, resources, effects, relations }: PolicyGraph): string {
  const height = TOP + ROW * Math.max(tools.length, resources.length, 1);
  const row = (names: readonly string[], name: string): number =>
    TOP + ROW * names.indexOf(name) + BOX.height / 2;
  const lines = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="sans-serif" font-size="13">`,
    ...effects.map((one) => {
      const [y1, y2] = [row(tools, one.from), row(resources, one.to)];
      const from = TOOLS_X + BOX.width;
      const stroke = one.kind === "read" ? "#999999" : "#222222";
      return [
        `<line x1="${from}" y1="${y1}" x2="${RESOURCES_X}" y2="${y2}" stroke="${stroke}"/>`,
        text((from + RESOURCES_X) / 2, (y1 + y2) / 2 - 4, labelOf(one)),
      ].join("\n");
    }),
    ...relations.map((one) => {
      const x = RESOURCES_X + BOX.width + 100;
      const [y1, y2] = [row(resources, one.from), row(resources, one.to)];
      const bend = `M ${x} ${y1} C ${x + 80} ${y1}, ${x + 80} ${y2}, ${x} ${y2}`;
      const path = `<path d="${bend}" fill="none" stroke="#222222" stroke-dasharray="4"/>`;
      return `${path}\n${text(x + 76, (y1 + y2) / 2, one.kind)}`;
    }),
    ...tools.map((name) => box(TOOLS_X, row(tools, name), BOX.width, 0, name)),
    ...resources.map((name) =>
      box(RESOURCES_X, row(resources, name), BOX.width + 100, BOX.height / 2, name),
    ),
    "</svg>",
  ];
  return `${lines.join("\n")}\n`;
}

function box(x: number, y: number, width: number, corner: number, name: string): string {
  const top = y - BOX.height / 2;
  return [
    `<rect x="${x}" y="${top}" width="${width}" height="${BOX.height}" rx="${corner}" fill="#ffffff" stroke="#222222"/>`,
    text(x + width / 2, y + 4, name),
  ].join("\n");
}

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };

function text(x: number, y: number, content: string): string {
  const escaped = content.replace(/[&<>]/g, (unit) => ENTITIES[unit] ?? unit);
  return `<text x="${x}" y="${y}" text-anchor="middle">${escaped}</text>`;
}
