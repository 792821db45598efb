import type { RowResult } from "./lab/run-row.ts";

const MS_PER_SECOND = 1_000;

/** The rows as a table, for a terminal. */
export function table(results: readonly RowResult[]): string {
  const counts = ["calls", "seen between", "faults", "in txn", "lost", "doubled"];
  const titles = ["fault", ...counts, "next decision", "took", ""];
  const lines = results.map((one) => [
    one.name,
    ...[one.calls, one.between, one.faults, one.inTransaction, one.lost, one.doubled].map(String),
    one.worstGapMs === null ? "–" : `${(one.worstGapMs / MS_PER_SECOND).toFixed(1)} s`,
    `${Math.round(one.seconds)} s`,
    one.problems.length === 0 ? "ok" : "FAILED",
  ]);
  const all = [titles, ...lines];
  const widths = titles.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  return all
    .map((row) =>
      row
        .map((cell, column) =>
          column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0),
        )
        .join("  "),
    )
    .concat("")
    .join("\n");
}
