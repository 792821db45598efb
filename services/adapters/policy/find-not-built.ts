import type { PathSegment } from "../../core/policy/path.ts";
import type { RawDocument } from "./fold-blocks.ts";
import { NOT_BUILT } from "./not-built.ts";
import { type PolicyProblem, type Positions, problemAt } from "./problem.ts";

type Visit = (path: readonly PathSegment[], value: unknown) => void;

/** Every use of something that is in the vocabulary and has no implementation. */
export function findNotBuilt(
  document: RawDocument,
  positions: Positions,
): readonly PolicyProblem[] {
  const problems: PolicyProblem[] = [];
  const refuse = (path: readonly PathSegment[], what: string): void => {
    const text = {
      message: `${what} is not built yet: this version would not enforce it`,
      mend: "remove it, or wait for the version that has it",
    };
    problems.push(problemAt(positions, path, text));
  };
  for (const entry of NOT_BUILT) {
    visitAll(document, entry.path, (path) => refuse(path, `\`${String(path.at(-1))}\``));
  }
  return problems;
}

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
