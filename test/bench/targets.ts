/** The targets of the figures, and whether they are reached. */
import type { BenchRow } from "./bench-row.ts";

type Figure = "p50" | "p99";

export type Target = {
  /** Name of the row. */
  readonly row: string;
  readonly figure: Figure;
  /** Name of a row of the same run: the target is on `row` divided by it. */
  readonly per?: string;
  readonly atMost?: number;
  readonly atLeast?: number;
};

export type Judged = {
  readonly target: Target;
  /** Null: a row is missing. */
  readonly value: number | null;
  readonly isReached: boolean;
};

export type Verdict = {
  readonly line: string;
  readonly exitCode: 0 | 1 | 3;
};

export function judge(targets: readonly Target[], rows: readonly BenchRow[]): readonly Judged[] {
  const byName = new Map(rows.map((row) => [row.name, row]));
  return targets.map((target) => {
    const value = valueFor(target, byName);
    const { atMost = Number.POSITIVE_INFINITY, atLeast = Number.NEGATIVE_INFINITY } = target;
    return { target, value, isReached: value !== null && value <= atMost && value >= atLeast };
  });
}

function valueFor(target: Target, rows: ReadonlyMap<string, BenchRow>): number | null {
  const value = rows.get(target.row)?.[target.figure];
  if (value === undefined) return null;
  if (target.per === undefined) return value;
  const per = rows.get(target.per)?.[target.figure];
  return per === undefined ? null : value / per;
}

export type Outcome = {
  readonly judged: readonly Judged[];
  /** Checks that failed: an answer was wrong, a measurement ended with an error. */
  readonly failures: readonly string[];
  /** Missing parts or data. */
  readonly missing: readonly string[];
  /** A missed target is a failure. */
  readonly check: boolean;
};

/** Failed checks take precedence over missing parts, and both over missed targets. */
export function verdict({ judged, failures, missing, check }: Outcome): Verdict {
  const reachedCount = judged.filter((one) => one.isReached).length;
  const absent = judged.filter((one) => one.value === null).length;
  const parts = [
    `bench: ${reachedCount} of ${judged.length} targets met`,
    ...(absent === 0 ? [] : [`${absent} not measured`]),
    ...(missing.length === 0 ? [] : [`${missing.length} parts missing`]),
    ...(failures.length === 0 ? [] : [`${failures.length} checks failed`]),
  ];
  return { line: parts.join(", "), exitCode: exitCode() };

  function exitCode(): 0 | 1 | 3 {
    if (failures.length > 0) return 1;
    if (missing.length > 0 || absent > 0) return 3;
    return check && reachedCount < judged.length ? 1 : 0;
  }
}
