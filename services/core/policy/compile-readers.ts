/** Which reads show what a tool changes: suggested after a refusal. */
import type { CompiledTool } from "./compiled.ts";
import type { PolicyDocument, ToolDocument } from "./document.ts";
import { isContained } from "./resource-graph.ts";

const NONE: readonly string[] = [];

/**
 * By declaration: reads of the same resource. By name: get_, read_ or list_ and the resource's
 * name.
 */
export function compileReaders(
  document: PolicyDocument,
  tool: (name: string) => CompiledTool,
): (name: string) => readonly string[] {
  const entries = Object.entries(document.tool_schemas ?? {});
  const reads = entries.flatMap(([name, entry]) =>
    (entry.reads ?? []).map((resource) => ({ name, shape: shapeOf(resource) })),
  );
  const readersByName = new Map(
    entries.map(([name, entry]) => [name, readersOf(entry, reads, tool)] as const),
  );
  return (name) => readersByName.get(name) ?? NONE;
}

interface Reader {
  readonly name: string;
  readonly shape: string;
}

function readersOf(
  entry: ToolDocument,
  reads: readonly Reader[],
  tool: (name: string) => CompiledTool,
): readonly string[] {
  const shapes = (entry.effects ?? []).map((effect) => shapeOf(effect.resource));
  const declared = reads.filter(({ shape }) => shapes.some((other) => related(shape, other)));
  if (declared.length > 0) return [...new Set(declared.map(({ name }) => name))];
  const resource = entry.side_effect_resource;
  if (resource === undefined) return NONE;
  const names = ["get_", "read_", "list_"].map((verb) => `${verb}${resource}`);
  return [...names, `list_${resource}s`].filter((name) => {
    const candidate = tool(name);
    return candidate.isDeclared && candidate.isRead;
  });
}

/** The names of placeholders do not matter: `order/{id}` equals `order/{order_id}`. */
function shapeOf(resource: string): string {
  return resource.replace(/\{[^}]*\}/g, "{}");
}

/** Whether they are equal or one contains the other. */
function related(a: string, b: string): boolean {
  return a === b || isContained(a, b) || isContained(b, a);
}
