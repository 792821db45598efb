/**
 * Relations between resources that no tool touches; a tool touches everything contained in its
 * resources.
 */
import { aliasesOf } from "../../../core/policy/compile-aliases.ts";
import type { PolicyDocument, VariantKeys } from "../../../core/policy/document.ts";
import type { LintRule } from "./finding.ts";
import { shapeOf } from "./resource-shape.ts";

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
      const message = `no tool acts on \`${side}\` itself, only on what lies in it, such as \`${inner}\`, for which the edge does not hold`;
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
