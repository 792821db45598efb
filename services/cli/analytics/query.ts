/** `callgate analytics query` and `report`: SQL over the files that the analytics have written. */
import { join } from "node:path";
import { MISSING } from "../../adapters/duckdb/connection.ts";
import { segmentFiles } from "../../adapters/duckdb/parquet-segments.ts";
import { querySegments } from "../../adapters/duckdb/query-segments.ts";
import { DECISIONS_FOLDER } from "../../analytics/analytics.ts";
import { DECISION_COLUMNS } from "../../analytics/decision-row.ts";
import { EXIT_OK, type ExitCode, environmentError, usageError } from "../../process/exit-error.ts";
import { PipelineError } from "../../runtime/errors.ts";
import { textTable } from "../output/table.ts";
import type { Terminal } from "../output/terminal.ts";
import { printable } from "../output/text.ts";
import { REPORTS } from "./reports.ts";

export const QUERY_FORMATS = ["table", "jsonl", "json", "csv"] as const;

export type QueryFormat = (typeof QUERY_FORMATS)[number];

export type QueryOptions = {
  readonly directory: string;
  readonly format: QueryFormat;
};

type Rows = Awaited<ReturnType<typeof querySegments>>;

const CELL_CHARACTERS = 60;
const NO_FILES =
  "callgate: no decision is in a file yet: `callgate analytics run` writes a file every `analytics.segmentMs` (default: one minute) and when it ends\n";
const NO_CSV =
  "a report has several tables, and CSV can hold only one: use --format json or jsonl, or `callgate analytics query` with --format csv";

export async function runQuery(
  sql: string,
  options: QueryOptions,
  terminal: Terminal,
): Promise<ExitCode> {
  const rows = await ask(sql, options.directory);
  await terminal.out.write(formatted(rows, options.format, terminal));
  await tellNoFiles(options.directory, terminal);
  return EXIT_OK;
}

/**
 * `table`: the reports one below the other; `json`: one object with the rows of each report by its
 * name; `jsonl`: one line per row, with the report's name as `report`.
 */
export async function runReport(options: QueryOptions, terminal: Terminal): Promise<ExitCode> {
  const { directory, format } = options;
  if (format === "csv") throw usageError(NO_CSV);
  const answers: [string, Rows][] = [];
  for (const { name, title, sql } of REPORTS) {
    const rows = await ask(sql, directory);
    answers.push([name, rows]);
    if (format !== "table") continue;
    const { style } = terminal.out;
    await terminal.out.write(`${style.bold(title)}\n${formatted(rows, "table", terminal)}\n`);
  }
  if (format === "json") {
    const report = Object.fromEntries(answers.map(([name, rows]) => [name, objects(rows)]));
    await terminal.out.write(`${JSON.stringify(report)}\n`);
  }
  if (format === "jsonl") {
    const lines = answers.flatMap(([report, rows]) =>
      objects(rows).map((row) => `${JSON.stringify({ report, ...row })}\n`),
    );
    await terminal.out.write(lines.join(""));
  }
  await tellNoFiles(directory, terminal);
  return EXIT_OK;
}

/**
 * An empty result does not mean that nothing was decided: recent decisions stay in memory at first.
 */
async function tellNoFiles(directory: string, { err }: Terminal): Promise<void> {
  if (segmentFiles(join(directory, DECISIONS_FOLDER)).length === 0) await err.write(NO_FILES);
}

async function ask(sql: string, directory: string): Promise<Rows> {
  try {
    return await querySegments(join(directory, DECISIONS_FOLDER), DECISION_COLUMNS, sql);
  } catch (error) {
    if (!(error instanceof PipelineError)) throw error;
    const isMissing = MISSING in error.context;
    throw isMissing ? environmentError(error.message, error) : usageError(error.message);
  }
}

function formatted(rows: Rows, format: QueryFormat, { out }: Terminal): string {
  switch (format) {
    case "table":
      return asTable(rows, out.style);
    case "json":
      return `${JSON.stringify(objects(rows))}\n`;
    case "jsonl":
      return objects(rows)
        .map((row) => `${JSON.stringify(row)}\n`)
        .join("");
    case "csv":
      return [rows.columns, ...rows.rows]
        .map((row) => `${row.map(csvCell).join(",")}\r\n`)
        .join("");
  }
}

function asTable({ columns, rows }: Rows, style: Terminal["out"]["style"]): string {
  if (rows.length === 0) return "no rows\n";
  const cells = rows.map((row) => row.map((value) => printable(text(value), CELL_CHARACTERS)));
  const numbers = columns.flatMap((_, index) =>
    rows.every((row) => row[index] === null || !Number.isNaN(Number(row[index]))) ? [index] : [],
  );
  return textTable(columns, cells, style, numbers);
}

function objects({ columns, rows }: Rows): readonly object[] {
  return rows.map((row) => Object.fromEntries(columns.map((name, index) => [name, row[index]])));
}

function text(value: unknown): string {
  if (value === null || value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** As in RFC 4180; nothing stands for NULL, and `""` for an empty text. */
function csvCell(value: unknown): string {
  const cell = text(value);
  return value === "" || /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}
