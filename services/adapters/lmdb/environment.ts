import { join } from "node:path";
import type { Database, RootDatabase } from "lmdb";
import { FatalError, type PipelineError } from "../../runtime/errors.ts";
import { makeDirectory } from "../system/make-directory.ts";
import { decodeChunk } from "./chunk.ts";
import { inspectFile } from "./inspect-file.ts";
import { baseOffsetOf, makeNameKey } from "./keys.ts";
import { type LmdbOpen, loadOpen } from "./load-open.ts";
import { mapStoreError } from "./map-error.ts";

const FORMAT = 1;
/** Name of the file with the log of a data directory. */
export const LOG_FILE = "log.mdb";

export type EnvironmentOptions = {
  readonly dataDir: string;
  /** Partitions of a new log; an existing log must have the same number. Absent: any number. */
  readonly partitions?: number;
  /** Creates the id of a new log. */
  readonly newId: () => string;
  /** False: the directory must contain a log, and an empty one is an error. Default: true. */
  readonly mayCreate?: boolean;
};

/** The store's tables. Keys and values are bytes. */
export type Tables = {
  readonly chunks: Database<Buffer, Buffer>;
  readonly partitions: Database<Buffer, Buffer>;
  readonly byName: Database<Buffer, Buffer>;
};

type LogIdentity = {
  readonly format: number;
  readonly clusterId: string;
  readonly partitions: number;
};

/**
 * The store of a data directory: one memory-mapped file, shared by all processes that open it.
 * Every transaction is on disk when it returns.
 */
export class Environment {
  readonly dataDir: string;
  readonly tables: Tables;
  readonly identity: LogIdentity;
  readonly #root: RootDatabase<Buffer, Buffer>;
  #closed = false;

  /**
   * @throws PipelineError where the store is not installed, unreadable, damaged, full, or has other
   *   partitions.
   */
  constructor(options: EnvironmentOptions) {
    this.dataDir = options.dataDir;
    const open = loadOpen(options.dataDir);
    let root: RootDatabase<Buffer, Buffer> | undefined;
    try {
      makeDirectory(options.dataDir, 0o700);
      const path = join(options.dataDir, LOG_FILE);
      const state = inspectFile(path);
      root = openRoot(open, path);
      this.#root = root;
      this.tables = openTables(this.#root);
      if (state === "short") this.#readEverything();
      this.identity = this.#identify(options);
    } catch (error) {
      // A later attempt, after the file was replaced, must not get this one from the store's
      // cache.
      void root?.close();
      throw this.mapError(error);
    }
  }

  /**
   * Runs `action` with the write lock of all processes and flushes its writes. If it throws,
   * nothing is written.
   */
  transact<T>(action: () => T): T {
    this.#assertOpen();
    try {
      return this.#root.transactionSync(action);
    } catch (error) {
      throw this.mapError(error);
    }
  }

  /** Runs `action` on the latest committed state of all processes. */
  view<T>(action: () => T): T {
    this.#assertOpen();
    try {
      this.#root.resetReadTxn();
      return action();
    } catch (error) {
      throw this.mapError(error);
    }
  }

  /**
   * Copies the committed state, also while others write. No process holds the copy's gate role.
   */
  async backUp(path: string): Promise<void> {
    this.#assertOpen();
    try {
      await this.#root.backup(path, true);
    } catch (error) {
      throw this.mapError(error);
    }
  }

  mapError(error: unknown): PipelineError {
    return mapStoreError(error, this.dataDir);
  }

  get closed(): boolean {
    return this.#closed;
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#root.close();
  }

  #assertOpen(): void {
    if (this.#closed) throw new FatalError("closed", "the log is closed");
  }

  #identify(options: EnvironmentOptions): LogIdentity {
    const key = makeNameKey("identity");
    const identity = this.transact(() => {
      const stored = this.tables.byName.get(key);
      if (stored !== undefined) return JSON.parse(stored.toString("utf8")) as LogIdentity;
      if (options.mayCreate === false) throw emptied(this.dataDir);
      const partitions = options.partitions ?? 1;
      const made: LogIdentity = { format: FORMAT, clusterId: options.newId(), partitions };
      this.tables.byName.putSync(key, Buffer.from(JSON.stringify(made)));
      return made;
    });
    if (identity.format !== FORMAT) {
      throw new FatalError(
        "log_mismatch",
        `\`${this.dataDir}\` has format ${identity.format}, but this version reads ${FORMAT}: ` +
          "use the version that wrote it, or another directory",
      );
    }
    if (options.partitions !== undefined && options.partitions !== identity.partitions) {
      throw new FatalError(
        "log_mismatch",
        `\`${this.dataDir}\` has ${identity.partitions} partitions, not ${options.partitions}: ` +
          "the number cannot change, use another directory",
      );
    }
    return identity;
  }

  /** Reads a truncated file once as a whole, so that lost pages are found now. */
  #readEverything(): void {
    for (const { key, value } of this.tables.chunks.getRange()) {
      decodeChunk(value, baseOffsetOf(key));
    }
    for (const table of [this.tables.partitions, this.tables.byName]) {
      for (const { value } of table.getRange()) JSON.stringify(value.length);
    }
  }
}

/**
 * The log contains arguments in plain text, so other users must not read it. A group may share it,
 * since approvals come from other processes.
 */
const FILE_MODE = 0o660;

function openRoot(open: LmdbOpen, path: string): RootDatabase<Buffer, Buffer> {
  return open<Buffer, Buffer>({
    path,
    // The store has this option, but its types do not.
    ...{ permissionsMode: FILE_MODE },
    encoding: "binary",
    keyEncoding: "binary",
    maxDbs: 8,
    // A commit is flushed before it returns. With overlapping flushes it would be visible to
    // other processes before it is on disk.
    overlappingSync: false,
  });
}

function openTables(root: RootDatabase<Buffer, Buffer>): Tables {
  const table = (name: string): Database<Buffer, Buffer> =>
    root.openDB<Buffer, Buffer>({ name, encoding: "binary", keyEncoding: "binary" });
  return {
    chunks: table("chunks"),
    partitions: table("partitions"),
    byName: table("named"),
  };
}

function emptied(dataDir: string): FatalError {
  return new FatalError("journal_lost", `the log in \`${dataDir}\` is empty, but it had records`);
}
