/**
 * Runs SQL over the Parquet files, through one view, `decisions`. A statement can only read
 * (read-only.ts), only the files of the view, and cannot change settings. DuckDB has no read-only
 * permission for a path, so the restriction to statements that read also protects those files.
 */
import { existsSync } from "node:fs";
import { FatalError } from "../../runtime/errors.ts";
import { type Duck, literal, MISSING, openDuck, type QueryResult } from "./connection.ts";
import { type SegmentColumn, segmentFiles } from "./parquet-segments.ts";

const VIEW = "decisions";
/** A file may be merged and removed between listing and reading. */
const TRIES = 3;

/**
 * @param sql one statement that only reads.
 * @throws FatalError where the directory does not exist, the statement does more than read, or the
 *   SQL is invalid (DuckDB's message).
 */
export async function querySegments(
  directory: string,
  columns: readonly SegmentColumn[],
  sql: string,
): Promise<QueryResult> {
  if (!existsSync(directory)) {
    throw new FatalError(
      "unexpected",
      `there are no decisions in ${directory}: run \`callgate analytics run\` first, which writes them after \`analytics.segmentMs\` and when it ends, or set its directory with --dir`,
      { context: { [MISSING]: directory } },
    );
  }
  for (let attempt = 1; ; attempt += 1) {
    const duck = await openDuck();
    try {
      return await ask(duck, directory, columns, sql);
    } catch (cause) {
      const message = cause instanceof Error ? cause.message : String(cause);
      const isGone = message.includes("No files found") || message.includes("No such file");
      if (isGone && attempt < TRIES) continue;
      throw new FatalError("unexpected", explainFailure(message), { cause });
    } finally {
      duck.close();
    }
  }
}

function explainFailure(message: string): string {
  if (!message.startsWith("Permission Error")) return message;
  return `${message}; only the files of the view \`${VIEW}\` can be read, and no file can be written`;
}

async function ask(
  duck: Duck,
  directory: string,
  columns: readonly SegmentColumn[],
  sql: string,
): Promise<QueryResult> {
  const files = segmentFiles(directory);
  await duck.run(`CREATE VIEW ${VIEW} AS ${viewOf(files, columns)}`);
  await duck.run(`SET allowed_paths = [${files.map(literal).join(", ")}]`);
  // `decided_at` is in UTC; a local `now()` would differ from it by hours.
  await duck.run("SET TimeZone = 'UTC'");
  await duck.run("SET enable_external_access = false");
  await duck.run("SET lock_configuration = true");
  return await duck.read(sql);
}

function viewOf(files: readonly string[], columns: readonly SegmentColumn[]): string {
  const times = [
    `make_timestamp("at_ms" * 1000) AS "decided_at"`,
    `make_timestamp("journaled_at_ms" * 1000) AS "journaled_at"`,
  ].join(", ");
  // Files of an earlier version lack columns, which are then null.
  const none = columns.map(([name, type]) => `NULL::${type} AS "${name}"`).join(", ");
  const empty = `SELECT * FROM (SELECT ${none}) WHERE false`;
  if (files.length === 0) return `SELECT *, ${times} FROM (${empty})`;
  const list = files.map(literal).join(", ");
  const read = `FROM read_parquet([${list}], union_by_name = true)`;
  return `SELECT *, ${times} FROM (${empty} UNION ALL BY NAME ${read})`;
}
