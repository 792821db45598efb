/** DuckDB, in memory: what it reads and writes are Parquet files. */
import { FatalError } from "../../runtime/errors.ts";
import { plainValues } from "./plain-value.ts";
import { readOnly } from "./read-only.ts";

export interface Duck {
  run(sql: string): Promise<void>;
  /**
   * The answer to one statement that only reads, as plain values; times are text.
   * @throws Error where it does anything else, or is wrong (DuckDB's words).
   */
  read(sql: string): Promise<QueryResult>;
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
      "analytics needs the optional package @duckdb/node-api, and it is not installed: run " +
        "`npm install` without `--omit=optional`",
      { cause },
    );
  }
}

/** A value as a literal of SQL. */
export function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
