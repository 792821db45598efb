import { type PathSegment, policyPath } from "./path.ts";
import type { PolicyPosition } from "./source.ts";

/**
 * One thing that is wrong with a policy. Line and column are 0 where the policy came as an object.
 */
export type PolicyProblem = {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  /** Path in the document, as `policyPath` prints it. */
  readonly path: string;
  readonly message: string;
  /** How to fix it. */
  readonly remedy: string;
};

/** Where a value was written: its key, and the value itself. */
type WrittenAt = {
  readonly file: string;
  readonly key: { readonly line: number; readonly column: number };
  readonly value: { readonly line: number; readonly column: number };
};

/** Positions of all values of a policy, by path. */
export type Positions = Map<string, WrittenAt>;

/** Takes the place of the file name where a policy was passed as an object. */
export const OBJECT_NAME = "policy";

/** The written value at a path, or its nearest written ancestor. */
function findWritten(
  positions: Positions,
  path: string,
): { readonly path: string; readonly at: WrittenAt } | null {
  for (let candidate = path; candidate !== ""; candidate = parentOf(candidate)) {
    const at = positions.get(candidate);
    if (at !== undefined) return { path: candidate, at };
  }
  return null;
}

function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf("."), path.lastIndexOf("[")));
}

/** As `findWritten`; a value that was not written is at the top of the first file. */
export function locateIn(positions: Positions, path: string): PolicyPosition | null {
  const nearest = findWritten(positions, path);
  if (nearest !== null) return { file: nearest.at.file, ...nearest.at.key, path: nearest.path };
  const first = positions.values().next().value;
  return first === undefined ? null : { file: first.file, line: 1, column: 1, path: "" };
}

/** A problem at a path. `on` chooses whether it points at the key or at the value. */
export function problemAt(
  positions: Positions,
  segments: readonly PathSegment[],
  text: { readonly message: string; readonly remedy: string },
  on: "key" | "value" = "key",
): PolicyProblem {
  const path = policyPath(segments);
  const nearest = findWritten(positions, path);
  if (nearest === null) return { file: OBJECT_NAME, line: 0, column: 0, path, ...text };
  const position = nearest.path === path ? nearest.at[on] : nearest.at.key;
  return { file: nearest.at.file, ...position, path, ...text };
}

/** `policy.yaml:3:5`, or the file name alone where there are no lines. */
export function describeLocation(problem: Pick<PolicyProblem, "file" | "line" | "column">): string {
  const { file, line, column } = problem;
  return line === 0 ? file : `${file}:${line}:${column}`;
}

/** One problem as one line for people. */
export function formatProblem(problem: PolicyProblem): string {
  const path = problem.path === "" ? "" : `${problem.path}: `;
  return `${describeLocation(problem)}: ${path}${problem.message}; ${problem.remedy}`;
}
