/**
 * SQL of somebody who may only read. What a statement does is DuckDB's own word (the type of the prepared
 * statement), never a guess from its text.
 *
 * READONLY-1 one statement runs, and only where DuckDB prepares it as a SELECT: COPY, for one, writes files.
 * READONLY-2 DuckDB does not say what an EXPLAIN explains, and EXPLAIN ANALYZE runs it. What comes after the words is prepared
 *   by itself, and where it is a SELECT, EXPLAIN is put before that very text: the text that was given does not run.
 * READONLY-3 DuckDB makes several of a PIVOT: a CREATE of the names of its columns, in memory, goes before the SELECT.
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
/** A space or a comment, with no comment in it. */
const BLANK = String.raw`\s|--[^\n]*(?:\n|$)|\/\*(?:(?!\/\*|\*\/)[\s\S])*\*\/`;
const EXPLAIN = new RegExp(`^(?:${BLANK})*explain\\b(?:(?:${BLANK})*(analyze)\\b)?`, "i");
/** No SELECT begins so. */
const OPTIONS = new RegExp(`^(?:${BLANK})*\\((?:${BLANK})*(?:analyze|format)\\b`, "i");
const NOTHING = new RegExp(`^(?:;|${BLANK})*$`);

/** @throws Error where the SQL is not one statement that only reads, or is wrong (DuckDB's words). */
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
 * @param use what is done with the one SELECT.
 * @throws Error where it is another statement, or several; `use` is not called.
 */
async function withSelect<T>(
  connection: DuckDBConnection,
  types: Types,
  sql: string,
  use: (prepared: DuckDBPreparedStatement) => Promise<T>,
): Promise<T> {
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
    if (prepared.statementType !== types.SELECT) throw refused(types, prepared);
    return await use(prepared);
  });
}

/** @param sql an EXPLAIN of one SELECT. Of a PIVOT's DuckDB makes a transaction, which it rolls back. */
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
      const isAround = statementType === types.CREATE || statementType === types.TRANSACTION;
      if (!isAround && statementType !== types.EXPLAIN) throw refused(types, prepared);
      const reader = await prepared.runAndReadAll();
      return isAround ? null : reader;
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

function refused(types: Types, { statementType }: DuckDBPreparedStatement): Error {
  const what = types[statementType] ?? `of type ${statementType}`;
  if (statementType === types.EXPLAIN) {
    return new Error(`EXPLAIN is not the first word here: ${HINT}`);
  }
  return new Error(`the statement is ${what}, and what the analytics wrote is only read: ${HINT}`);
}
