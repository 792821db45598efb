/** Rows and targets as text for a terminal or a log. */
import type { BenchRow } from "./bench-row.ts";
import type { Judged, Target } from "./targets.ts";

const DIGITS = 3;
const WHOLE_FROM = 1_000;

export function figure(value: number | null | undefined): string {
  if (value === null || value === undefined) return "-";
  if (Math.abs(value) >= WHOLE_FROM) return Math.round(value).toLocaleString("en-US");
  return String(Number(value.toPrecision(DIGITS)));
}

/** `base`: the row that all others are divided by. */
export function rowTable(rows: readonly BenchRow[], base: string | null): string {
  const per = rows.find((row) => row.name === base)?.p50;
  const cells = rows.map((row) => [
    row.name,
    figure(row.p50),
    figure(row.p99),
    per === undefined ? "" : `${figure(row.p50 / per)}x`,
    row.unit,
    row.note ?? "",
  ]);
  return columns([["", "p50", "p99", per === undefined ? "" : "ratio", "unit", ""], ...cells]);
}

export function targetTable(judged: readonly Judged[]): string {
  const cells = judged.map(({ target, value, isReached }) => [
    target.per === undefined ? target.row : `${target.row} / ${target.per}`,
    target.figure,
    figure(value),
    limitOf(target),
    value === null ? "not measured" : isReached ? "met" : "MISSED",
  ]);
  return columns([["target", "of", "value", "limit", ""], ...cells]);
}

function limitOf({ atMost, atLeast }: Target): string {
  return atMost === undefined ? `>= ${figure(atLeast)}` : `<= ${figure(atMost)}`;
}

/** The first column to the left, figures to the right. */
function columns(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, at) =>
    Math.max(...rows.map((row) => row[at]?.length ?? 0)),
  );
  const isText = (at: number): boolean => at === 0 || at > DIGITS;
  const line = (row: readonly string[]): string =>
    row
      .map((cell, at) =>
        isText(at) ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0),
      )
      .join("  ")
      .trimEnd();
  return rows.map((row) => `  ${line(row)}`).join("\n");
}
