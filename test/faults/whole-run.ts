import type { RowResult } from "./lab/run-row.ts";

/**
 * Problems of all rows together, beside those of each. A run of picked rows need not strike
 * everything.
 */
export function problemsOfRun(
  results: readonly RowResult[],
  { isPicked }: { readonly isPicked: boolean },
): readonly string[] {
  const inTransaction = results.reduce((sum, one) => sum + one.inTransaction, 0);
  if (isPicked || inTransaction > 0) return [];
  return ["void: no fault of any row struck inside a transaction"];
}
