import type { PathSegment } from "../../core/policy/path.ts";

type Visit = (path: readonly PathSegment[], value: unknown) => void;

/** Calls back for each written value whose path fits the pattern. */
export function visitAll(document: unknown, pattern: readonly string[], found: Visit): void {
  visit(document, pattern, [], found);
}

function visit(
  value: unknown,
  pattern: readonly string[],
  path: readonly PathSegment[],
  found: Visit,
): void {
  const [step, ...rest] = pattern;
  if (step === undefined) {
    found(path, value);
    return;
  }
  if (typeof value !== "object" || value === null) return;
  for (const [name, child] of Object.entries(value)) {
    if (step !== "*" && step !== name) continue;
    visit(child, rest, [...path, Array.isArray(value) ? Number(name) : name], found);
  }
}
