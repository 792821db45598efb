/**
 * Runs SQL of a user who may only read. DuckDB itself tells what a statement does, by the type of
 * the prepared statement; its text is never guessed from.
 *
 * READONLY-1 One statement runs, and only if DuckDB prepares it as a SELECT. COPY, for example,
 *    writes files.
 * READONLY-2 DuckDB does not tell the type of an explained statement, and EXPLAIN ANALYZE runs it.
 *    The text behind EXPLAIN is therefore prepared by itself. If it is a SELECT, EXPLAIN is put
 *    before that text; the original text does not run.
 * READONLY-3 DuckDB splits a PIVOT into several statements: a CREATE in memory, for the names of
 *    its columns, comes before the SELECT.
 */
import type {
  DuckDBConnection,
  DuckDBExtractedStatements,
  DuckDBPreparedStatement,
  DuckDBResultReader,
  StatementType,
} from "@duckdb/node-api";

type Types = Pick<typeof StatementType, "CREATE" | "EXPLAIN" | "SELECT" | "TRANSACTION"> & {
  readonly [type: number]: string | undefined;
};

type Explain = { readonly words: "EXPLAIN" | "EXPLAIN ANALYZE"; readonly explained: string };

const HINT =
  "ask with SELECT, FROM, DESCRIBE, SUMMARIZE or PIVOT of the view `decisions`, or with EXPLAIN or EXPLAIN ANALYZE before it";
/** A space, or a comment that contains no comment. */
const BLANK = String.raw`\s|--[^\n]*(?:\n|$)|\/\*(?:(?!\/\*|\*\/)[\s\S])*\*\/`;
const EXPLAIN = new RegExp(`^(?:${BLANK})*explain\\b(?:(?:${BLANK})*(analyze)\\b)?`, "i");
/** Options of EXPLAIN in parentheses; no SELECT begins like this. */
const OPTIONS = new RegExp(`^(?:${BLANK})*\\((?:${BLANK})*(?:analyze|format)\\b`, "i");
const NOTHING = new RegExp(`^(?:;|${BLANK})*$`);

/**
 * @throws Error where the SQL is not one statement that only reads, or is invalid (DuckDB's
 *   message).
 */
export async function readOnly(
  connection: DuckDBConnection,
  types: Types,
  sql: string,
): Promise<DuckDBResultReader> {
  const explain = explainOf(sql);
  if (explain === null) {
    return await withSelect(connection, types, sql, (prepared) => prepared.runAndReadAll());
  }
  const { words, explained } = explain;
  if (OPTIONS.test(explained)) throw new Error(`EXPLAIN takes no options in parentheses: ${HINT}`);
  await withSelect(connection, types, explained, async () => undefined);
  return await runExplain(connection, types, `${words} ${explained}`);
}

/** Null where EXPLAIN is not the first word. */
function explainOf(sql: string): Explain | null {
  const match = EXPLAIN.exec(sql);
  if (match === null) return null;
  const words = match[1] === undefined ? "EXPLAIN" : "EXPLAIN ANALYZE";
  return { words, explained: sql.slice(match[0].length) };
}

/**
 * @param use runs the SELECT.
 * @throws Error for another statement, or several; `use` is then not called.
 */
async function withSelect<T>(
  connection: DuckDBConnection,
  types: Types,
  sql: string,
  use: (prepared: DuckDBPreparedStatement) => Promise<T>,
): Promise<T> {
  const statements = await extract(connection, sql);
  const last = statements.count - 1;
  // Several statements without a semicolon between them are one statement that DuckDB split.
  if (last > 0 && sql.replace(/[;\s]+$/, "").includes(";")) {
    throw new Error(`the SQL has ${statements.count} statements: write one`);
  }
  for (let index = 0; index < last; index += 1) {
    await withPrepared(statements, index, async (prepared) => {
      if (prepared.statementType !== types.CREATE) throw refused(types, prepared);
      await prepared.run();
    });
  }
  return await withPrepared(statements, last, async (prepared) => {
    if (prepared.statementType !== types.SELECT) throw refused(types, prepared);
    return await use(prepared);
  });
}

/** @param sql an EXPLAIN of one SELECT. DuckDB wraps that of a PIVOT in a transaction. */
async function runExplain(
  connection: DuckDBConnection,
  types: Types,
  sql: string,
): Promise<DuckDBResultReader> {
  const statements = await extract(connection, sql);
  let answer: DuckDBResultReader | null = null;
  for (let index = 0; index < statements.count; index += 1) {
    const read = await withPrepared(statements, index, async (prepared) => {
      const { statementType } = prepared;
      const isAuxiliary = statementType === types.CREATE || statementType === types.TRANSACTION;
      if (!isAuxiliary && statementType !== types.EXPLAIN) throw refused(types, prepared);
      const reader = await prepared.runAndReadAll();
      return isAuxiliary ? null : reader;
    });
    answer = read ?? answer;
  }
  if (answer === null) throw new Error(`DuckDB gives no answer to ${sql}: ${HINT}`);
  return answer;
}

async function extract(
  connection: DuckDBConnection,
  sql: string,
): Promise<DuckDBExtractedStatements> {
  if (NOTHING.test(sql)) throw new Error(`the SQL is empty: ${HINT}`);
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

function refused(types: Types, { statementType }: DuckDBPreparedStatement): Error {
  const what = types[statementType] ?? `of type ${statementType}`;
  if (statementType === types.EXPLAIN) {
    return new Error(`EXPLAIN is not the first word here: ${HINT}`);
  }
  return new Error(`the statement is ${what}, but only reading is allowed: ${HINT}`);
}
