import type { BenchRow } from "../bench-row.ts";

/**
 * The results of one round of a part. A failure is a failed check, or a measurement without a
 * value.
 */
export type PartResult = {
  readonly rows: readonly BenchRow[];
  readonly failures: readonly string[];
};
