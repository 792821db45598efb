/** Opens DuckDB in memory; it reads and writes Parquet files. */
import { FatalError } from "../../runtime/errors.ts";
import { plainValues } from "./plain-value.ts";
import { readOnly } from "./read-only.ts";

export interface Duck {
  run(sql: string): Promise<void>;
  /**
   * Runs one statement that only reads. Returns plain values; times are text.
   * @throws Error where the statement does anything else, or is invalid (DuckDB's message).
   */
  read(sql: string): Promise<QueryResult>;
  close(): void;
}

export type QueryResult = {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly unknown[])[];
};

/** Names, in the context of an error, what a query needs and does not find. */
export const MISSING = "missing";

/** Two threads are enough for an operator's queries, and a gate may run on the same host. */
const THREADS = "2";

/** @throws FatalError `unexpected` where DuckDB, an optional peer, is not installed. */
export async function openDuck(): Promise<Duck> {
  const duckdb = await loadPackage();
  const { DuckDBInstance, StatementType } = duckdb;
  const instance = await DuckDBInstance.create(":memory:", { threads: THREADS });
  const connection = await instance.connect();
  return {
    run: async (sql) => {
      await connection.run(sql);
    },
    read: async (sql) => {
      const reader = await readOnly(connection, StatementType, sql);
      return {
        columns: reader.deduplicatedColumnNames(),
        rows: reader.convertRows(plainValues(duckdb)),
      };
    },
    close: () => {
      connection.closeSync();
      instance.closeSync();
    },
  };
}

async function loadPackage() {
  try {
    return await import("@duckdb/node-api");
  } catch (cause) {
    throw new FatalError(
      "unexpected",
      "analytics need DuckDB, which is not installed beside callgate: run " +
        "`npm install @duckdb/node-api`",
      { cause, context: { [MISSING]: "@duckdb/node-api" } },
    );
  }
}

/** Quotes a text as an SQL literal. */
export function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
