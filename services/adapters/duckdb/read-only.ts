/**
 * SQL of somebody who may only read. What a statement does is DuckDB's own word (the type of the prepared
 * statement), never a guess from its text.
 *
 * R1 one statement runs, of type SELECT, or an EXPLAIN of one: COPY, for one, writes files, also as what is explained.
 * R2 DuckDB makes two of a PIVOT: a CREATE of the names of its columns, in memory, goes before the SELECT.
 */
import type {
  DuckDBConnection,
  DuckDBExtractedStatements,
  DuckDBPreparedStatement,
  DuckDBResultReader,
  StatementType,
} from "@duckdb/node-api";

type Types = Pick<typeof StatementType, "CREATE" | "EXPLAIN" | "SELECT"> & {
  readonly [type: number]: string | undefined;
};

const HINT = "ask with SELECT, FROM, DESCRIBE, SUMMARIZE, PIVOT or EXPLAIN of the view `decisions`";
const EXPLAIN = /^\s*explain\b/i;
/** What may stand between EXPLAIN and the statement. */
const EXPLAIN_OPTIONS = [/^/, /^\s*analyze\b/i, /^\s*(?:analyze\b\s*)?\([^()]*\)/i];
const NOTHING = /^(?:\s|;|--[^\n]*(?:\n|$)|\/\*[\s\S]*?\*\/)*$/;

/** @throws Error where the SQL is not one statement that only reads, or is wrong (DuckDB's words). */
export async function readOnly(
  connection: DuckDBConnection,
  types: Types,
  sql: string,
): Promise<DuckDBResultReader> {
  const statements = await extract(connection, sql);
  const last = statements.count - 1;
  // Without a semicolon before its end it is one that DuckDB made several of.
  if (last > 0 && sql.replace(/[;\s]+$/, "").includes(";")) {
    throw new Error(`${statements.count} statements are given, and one is answered: give one`);
  }
  for (let index = 0; index < last; index += 1) {
    await withPrepared(statements, index, async (prepared) => {
      if (prepared.statementType !== types.CREATE) throw refused(types, prepared);
      await prepared.run();
    });
  }
  return await withPrepared(statements, last, async (prepared) => {
    const { statementType } = prepared;
    const isExplained =
      statementType === types.EXPLAIN && (await explainsSelect(connection, types, sql));
    if (statementType !== types.SELECT && !isExplained) throw refused(types, prepared);
    return await prepared.runAndReadAll();
  });
}

async function extract(
  connection: DuckDBConnection,
  sql: string,
): Promise<DuckDBExtractedStatements> {
  if (NOTHING.test(sql)) throw new Error(`no statement is given: ${HINT}`);
  try {
    return await connection.extractStatements(sql);
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    throw new Error(message.replace("Failed to extract statements: ", ""), { cause });
  }
}

async function withPrepared<T>(
  statements: DuckDBExtractedStatements,
  index: number,
  use: (prepared: DuckDBPreparedStatement) => Promise<T>,
): Promise<T> {
  const prepared = await statements.prepare(index);
  try {
    return await use(prepared);
  } finally {
    prepared.destroySync();
  }
}

/** DuckDB does not say what it explains: what comes after the word is asked about by itself. */
async function explainsSelect(
  connection: DuckDBConnection,
  types: Types,
  sql: string,
): Promise<boolean> {
  if (!EXPLAIN.test(sql)) return false;
  const explained = sql.replace(EXPLAIN, "");
  for (const options of EXPLAIN_OPTIONS) {
    if (await isSelect(connection, types, explained.replace(options, ""))) return true;
  }
  return false;
}

async function isSelect(connection: DuckDBConnection, types: Types, sql: string): Promise<boolean> {
  try {
    const statements = await extract(connection, sql);
    if (statements.count !== 1) return false;
    return await withPrepared(
      statements,
      0,
      async ({ statementType }) => statementType === types.SELECT,
    );
  } catch {
    return false;
  }
}

function refused(types: Types, { statementType }: DuckDBPreparedStatement): Error {
  const what = types[statementType] ?? `of type ${statementType}`;
  return new Error(`the statement is ${what}, and what the analytics wrote is only read: ${HINT}`);
}
