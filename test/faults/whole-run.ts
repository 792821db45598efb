import type { RowResult } from "./lab/run-row.ts";

/** Of all rows together, beside what is wrong with each. Rows that were picked need not strike everything. */
export function problemsOfRun(
  results: readonly RowResult[],
  { isPicked }: { readonly isPicked: boolean },
): readonly string[] {
  const inTransaction = results.reduce((sum, one) => sum + one.inTransaction, 0);
  if (isPicked || inTransaction > 0) return [];
  return ["void: no fault of any row struck inside a transaction"];
}
