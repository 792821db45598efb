/**
 * How resources hang together. Resources are paths, so `order/7` holds `order/7/payment`; `contains`
 * adds wholes of other names, and `derives` says that one effect stands for another: an invoice and the
 * payment of one order. Edges are written as templates with the same placeholders on both sides, so
 * that one side names the other without a search.
 */
import type { CompileProblem } from "./compile-identity.ts";
import type { GraphStep, ResourceGraph } from "./compiled.ts";
import type { PolicyDocument } from "./document.ts";
import { policyPath } from "./path.ts";

/** Resources that one question leads to; a longer chain than this is no longer one thing. */
const REACHED_MAX = 32;

type Rewrite = (resource: string) => string | null;

export function compileGraph(
  edges: PolicyDocument["edges"],
  problems: CompileProblem[],
): ResourceGraph {
  const toWhole: Rewrite[] = [];
  const toEqual: Rewrite[] = [];
  const add = (key: "contains" | "derives", index: number, from: string, to: string) => {
    const path = policyPath(["edges", key, index]);
    const a = readTemplate(from);
    const b = readTemplate(to);
    if (a === null || b === null) {
      const message = "an edge is between templates of whole segments: `order/{id}/payment`";
      problems.push({ path, message });
    } else if (a.names.join() !== b.names.join()) {
      problems.push({ path, message: "both sides of an edge need the same placeholders" });
    } else if (key === "contains") toWhole.push(rewrite(b, a));
    else toEqual.push(rewrite(a, b), rewrite(b, a));
  };
  (edges?.contains ?? []).forEach(([whole, part], at) => {
    add("contains", at, whole, part);
  });
  (edges?.derives ?? []).forEach(([source, derived], at) => {
    add("derives", at, source, derived);
  });
  const wholes = [parentOf, ...toWhole];
  return {
    hasEdges: toWhole.length + toEqual.length > 0,
    wholesOf: (resource) => reach(resource, wholes),
    equalsOf: (resource) => (toEqual.length === 0 ? NONE : reach(resource, toEqual)),
  };
}

const NONE: readonly GraphStep[] = [];

interface Template {
  /** Segments; a placeholder has its name, a literal has null. */
  readonly segments: readonly { readonly text: string; readonly name: string | null }[];
  /** Sorted. */
  readonly names: readonly string[];
}

const PLACEHOLDER = /^\{\s*([^{}/]+?)\s*\}$/;

function readTemplate(text: string): Template | null {
  const segments = text.split("/").map((segment) => {
    const name = PLACEHOLDER.exec(segment)?.[1] ?? null;
    return { text: segment, name };
  });
  const broken = segments.some(({ text: part, name }) => name === null && /^$|[{}]/.test(part));
  if (broken) return null;
  return { segments, names: segments.flatMap(({ name }) => name ?? []).sort() };
}

/** What the template says about a resource, said by the other template; null where it does not fit. */
function rewrite(from: Template, to: Template): Rewrite {
  const first = from.segments[0];
  const start = first === undefined || first.name !== null ? "" : first.text;
  return (resource) => {
    // Most resources fit no edge: told by their first letters, before they are taken apart.
    const values = resource.startsWith(start) ? valuesIn(from, resource.split("/")) : null;
    if (values === null) return null;
    return to.segments.map(({ text, name }) => (name === null ? text : values.get(name))).join("/");
  };
}

function valuesIn(
  template: Template,
  parts: readonly string[],
): ReadonlyMap<string, string> | null {
  if (parts.length !== template.segments.length) return null;
  const values = new Map<string, string>();
  for (let at = 0; at < parts.length; at++) {
    const { text, name } = template.segments[at] as Template["segments"][number];
    const part = parts[at] as string;
    if (name === null ? text !== part : (values.get(name) ?? part) !== part) return null;
    if (name !== null) values.set(name, part);
  }
  return values;
}

function parentOf(resource: string): string | null {
  const at = resource.lastIndexOf("/");
  return at <= 0 ? null : resource.slice(0, at);
}

/** Breadth first, so that the shortest way to each resource is the one named. */
function reach(resource: string, rewrites: readonly Rewrite[]): readonly GraphStep[] {
  const seen = new Set([resource]);
  const found: GraphStep[] = [];
  let front: GraphStep[] = [{ resource, path: [resource] }];
  while (front.length > 0 && found.length < REACHED_MAX) {
    const next: GraphStep[] = [];
    for (const step of front) {
      for (const follow of rewrites) {
        const reached = follow(step.resource);
        if (reached === null || seen.has(reached)) continue;
        seen.add(reached);
        next.push({ resource: reached, path: [...step.path, reached] });
      }
    }
    found.push(...next);
    front = next;
  }
  return found.length > REACHED_MAX ? found.slice(0, REACHED_MAX) : found;
}
