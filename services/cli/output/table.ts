import Table from "cli-table3";
import type { Style } from "./style.ts";

const PLAIN = {
  top: "",
  "top-mid": "",
  "top-left": "",
  "top-right": "",
  bottom: "",
  "bottom-mid": "",
  "bottom-left": "",
  "bottom-right": "",
  left: "",
  "left-mid": "",
  mid: "",
  "mid-mid": "",
  right: "",
  "right-mid": "",
  middle: "  ",
} as const;

/** Columns without rules; the columns in `numbers` are right-aligned. */
export function textTable(
  titles: readonly string[],
  rows: readonly (readonly (string | number)[])[],
  style: Style,
  numbers: readonly number[] = [],
): string {
  const table = new Table({
    head: titles.map((title) => style.bold(title)),
    chars: PLAIN,
    // The library would colour heads and borders even without a terminal.
    style: { head: [], border: [], "padding-left": 0, "padding-right": 0 },
    colAligns: titles.map((_, column) => (numbers.includes(column) ? "right" : "left")),
  });
  table.push(...rows.map((row) => row.map(String)));
  return `${table.toString().replaceAll(/ +$/gm, "")}\n`;
}
