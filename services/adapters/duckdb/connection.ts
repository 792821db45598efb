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

/** Two threads are enough for an operator's queries, and a gate may run on the same host. */
const THREADS = "2";

/** @throws FatalError `unexpected` where the optional package is not installed. */
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
      "analytics needs the optional package @duckdb/node-api, which is not installed: run " +
        "`npm install` without `--omit=optional`",
      { cause },
    );
  }
}

/** Quotes a text as an SQL literal. */
export function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
