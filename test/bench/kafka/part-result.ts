import type { BenchRow } from "../bench-row.ts";

/** What one round of a part has found. Failures: a check failed, or a measurement gave nothing. */
export type PartResult = {
  readonly rows: readonly BenchRow[];
  readonly failures: readonly string[];
};
