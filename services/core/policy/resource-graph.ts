/**
 * Relations between resources. Resources are paths, so `order/7` contains `order/7/payment`;
 * `contains` adds ancestors with other names, and `derives` says that two effects are one: an
 * invoice and the payment of one order. Edges are written as templates with the same placeholders
 * on both sides, so that one side gives the other without a search.
 */
import type { CompileProblem } from "./compile-identity.ts";
import type { ResourceGraph } from "./compiled.ts";
import type { PolicyDocument } from "./document.ts";
import { policyPath } from "./path.ts";

/** The most resources that one question can reach; a longer chain is no longer one thing. */
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
  const toAncestor = [parentOf, ...toWhole];
  return {
    hasEdges: toWhole.length + toEqual.length > 0,
    listAncestors: (resource) => reach(resource, toAncestor),
    equalsOf: (resource) => (toEqual.length === 0 ? NONE : reach(resource, toEqual)),
    pathToWhole: (resource, whole) => pathTo(resource, whole, toAncestor),
    pathToEqual: (resource, equal) => pathTo(resource, equal, toEqual),
  };
}

const NONE: readonly string[] = [];

interface Template {
  /** Segments; a placeholder has its name, a literal has null. */
  readonly segments: readonly { readonly text: string; readonly name: string | null }[];
  /** Names of the placeholders, sorted. */
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

/**
 * A segment of a template, and the equal segment of the other side, or an earlier equal one of its
 * own side.
 */
interface Slot {
  readonly text: string;
  /** Index of the equal segment; null: the segment is a literal. */
  readonly like: number | null;
}

function slotsOf({ segments }: Template, like: Template): readonly Slot[] {
  return segments.map(({ text, name }) => {
    const at = like.segments.findIndex((other) => name !== null && other.name === name);
    return { text, like: at < 0 ? null : at };
  });
}

/**
 * Rewrites a resource from one template to the other; the result is null where the resource does
 * not match.
 */
function rewrite(from: Template, to: Template): Rewrite {
  const wanted = slotsOf(from, from);
  const said = slotsOf(to, from);
  const start = startOf(wanted);
  return (resource) => {
    // Most resources match no edge: the first letters show that before the path is split.
    const parts = resource.startsWith(start) ? partsOf(resource, wanted) : null;
    return parts === null ? null : filled(said, parts);
  };
}

/** The beginning of every resource that matches. */
function startOf([first, ...rest]: readonly Slot[]): string {
  if (first === undefined || first.like !== null) return "";
  return rest.length === 0 ? first.text : `${first.text}/`;
}

/**
 * The segments of a resource that matches, else null. A loop finds them, since `split` is a slower
 * call into the engine.
 */
function partsOf(resource: string, wanted: readonly Slot[]): readonly string[] | null {
  const parts: string[] = [];
  let from = 0;
  for (let at = 0; at < wanted.length; at++) {
    const end = resource.indexOf("/", from);
    const isLast = at === wanted.length - 1;
    if (end < 0 !== isLast) return null;
    const { text, like } = wanted[at] as Slot;
    const part = resource.slice(from, isLast ? resource.length : end);
    parts.push(part);
    if (part !== (like === null ? text : parts[like])) return null;
    from = end + 1;
  }
  return parts;
}

function filled(said: readonly Slot[], parts: readonly string[]): string {
  let resource = "";
  for (let at = 0; at < said.length; at++) {
    const { text, like } = said[at] as Slot;
    const part = like === null ? text : (parts[like] as string);
    resource = at === 0 ? part : `${resource}/${part}`;
  }
  return resource;
}

function parentOf(resource: string): string | null {
  const at = resource.lastIndexOf("/");
  return at <= 0 ? null : resource.slice(0, at);
}

/**
 * Breadth first, so that the shortest way to each resource is found. `from`, if passed, receives
 * for each resource the index of the one before it, or -1.
 */
function reach(resource: string, rewrites: readonly Rewrite[], from?: number[]): readonly string[] {
  const resources: string[] = [];
  for (let at = -1; at < resources.length; at++) {
    const step = at < 0 ? resource : (resources[at] as string);
    for (const follow of rewrites) {
      const reached = follow(step);
      if (reached === null || reached === resource || resources.includes(reached)) continue;
      resources.push(reached);
      from?.push(at);
      if (resources.length === REACHED_MAX) return resources;
    }
  }
  return resources;
}

/**
 * The path from a resource to another that it leads to, both included; these two alone where no
 * path exists.
 */
function pathTo(resource: string, other: string, rewrites: readonly Rewrite[]): readonly string[] {
  const from: number[] = [];
  const resources = reach(resource, rewrites, from);
  const path: string[] = [other];
  for (let at = from[resources.indexOf(other)] ?? -1; at >= 0; at = from[at] as number) {
    path.unshift(resources[at] as string);
  }
  return [resource, ...path];
}

/** Whether one resource is contained in another by its path alone. */
export function isContained(part: string, ancestor: string): boolean {
  return part.startsWith(ancestor) && part.charAt(ancestor.length) === "/";
}
