/** DuckDB, in memory: what it reads and writes are Parquet files. */
import type { DuckDBConnection } from "@duckdb/node-api";
import { FatalError } from "../../runtime/errors.ts";

export interface Duck {
  run(sql: string): Promise<void>;
  /** Rows as plain values: numbers that do not fit and times are text. */
  all(sql: string): Promise<QueryResult>;
  close(): void;
}

export type QueryResult = {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly unknown[])[];
};

/** Two cores are enough for what an operator asks, and a gate may run beside it. */
const THREADS = "2";

/** @throws FatalError `unexpected` where the optional package is not installed. */
export async function openDuck(): Promise<Duck> {
  const { DuckDBInstance } = await loadPackage();
  const instance = await DuckDBInstance.create(":memory:", { threads: THREADS });
  const connection = await instance.connect();
  return {
    run: async (sql) => {
      await connection.run(sql);
    },
    all: (sql) => readAll(connection, sql),
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
      "analytics needs the optional package @duckdb/node-api, and it is not installed: run " +
        "`npm install` without `--omit=optional`",
      { cause },
    );
  }
}

async function readAll(connection: DuckDBConnection, sql: string): Promise<QueryResult> {
  const reader = await connection.runAndReadAll(sql);
  return { columns: reader.deduplicatedColumnNames(), rows: reader.getRowsJson() };
}

/** A value as a literal of SQL. */
export function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
