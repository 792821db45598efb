import { join } from "node:path";
import { type Database, open, type RootDatabase } from "lmdb";
import { FatalError, type PipelineError } from "../../runtime/errors.ts";
import { makeDirectory } from "../system/make-directory.ts";
import { decodeChunk } from "./chunk.ts";
import { inspectFile } from "./inspect-file.ts";
import { baseOffsetOf, makeNameKey } from "./keys.ts";
import { mapStoreError } from "./map-error.ts";

const FORMAT = 1;
/** What the log of a data directory is kept in. */
export const LOG_FILE = "log.mdb";

export type EnvironmentOptions = {
  readonly dataDir: string;
  /** Partitions of a log that is made now; an existing one keeps its own. Absent: any number will do. */
  readonly partitions?: number;
  /** Makes the id of a new log. */
  readonly newId: () => string;
  /** False: the directory had a log, and one that is empty is not it. Default: true. */
  readonly mayCreate?: boolean;
};

/** The store's tables. Keys and values are bytes. */
export type Tables = {
  readonly chunks: Database<Buffer, Buffer>;
  readonly partitions: Database<Buffer, Buffer>;
  readonly byName: Database<Buffer, Buffer>;
  readonly checkpoints: Database<Buffer, Buffer>;
};

type LogIdentity = {
  readonly format: number;
  readonly clusterId: string;
  readonly partitions: number;
};

/**
 * One store in one directory: one memory-mapped file, shared by the processes that open it. Every
 * transaction is on disk when it returns.
 */
export class Environment {
  readonly dataDir: string;
  readonly tables: Tables;
  readonly identity: LogIdentity;
  readonly #root: RootDatabase<Buffer, Buffer>;
  #closed = false;

  /** @throws PipelineError with what to do: unreadable, damaged, no space, other partition count. */
  constructor(options: EnvironmentOptions) {
    this.dataDir = options.dataDir;
    let root: RootDatabase<Buffer, Buffer> | undefined;
    try {
      makeDirectory(options.dataDir, 0o700);
      const path = join(options.dataDir, LOG_FILE);
      const state = inspectFile(path);
      root = openRoot(path);
      this.#root = root;
      this.tables = openTables(this.#root);
      if (state === "short") this.#readEverything();
      this.identity = this.#identify(options);
    } catch (error) {
      // Whoever looks again, after the file was exchangeHash, must not get this one.
      void root?.close();
      throw this.mapError(error);
    }
  }

  /**
   * Runs `action` with the write lock of all processes and puts what it wrote on disk; if it throws,
   * nothing was written.
   */
  transact<T>(action: () => T): T {
    this.#assertOpen();
    try {
      return this.#root.transactionSync(action);
    } catch (error) {
      throw this.mapError(error);
    }
  }

  /** Runs `action` on what is committed now, by whatever process. */
  view<T>(action: () => T): T {
    this.#assertOpen();
    try {
      this.#root.resetReadTxn();
      return action();
    } catch (error) {
      throw this.mapError(error);
    }
  }

  /** Copies what is committed now, also while others write; nobody holds the copy's gate role. */
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
        `\`${this.dataDir}\` has format ${identity.format}, this version reads ${FORMAT}: ` +
          "use the version that wrote it, or another directory",
      );
    }
    if (options.partitions !== undefined && options.partitions !== identity.partitions) {
      throw new FatalError(
        "log_mismatch",
        `\`${this.dataDir}\` has ${identity.partitions} partitions, ${options.partitions} are asked ` +
          "for: the number cannot change, use another directory",
      );
    }
    return identity;
  }

  /** A file that was cut short is read once as a whole. */
  #readEverything(): void {
    for (const { key, value } of this.tables.chunks.getRange()) {
      decodeChunk(value, baseOffsetOf(key));
    }
    for (const table of [this.tables.partitions, this.tables.byName, this.tables.checkpoints]) {
      for (const { value } of table.getRange()) JSON.stringify(value.length);
    }
  }
}

/** Not for everybody: it holds arguments in clear. A group may share it, as approvals come from other processes. */
const FILE_MODE = 0o660;

function openRoot(path: string): RootDatabase<Buffer, Buffer> {
  return open<Buffer, Buffer>({
    path,
    // An option of the store that its types do not name.
    ...{ permissionsMode: FILE_MODE },
    encoding: "binary",
    keyEncoding: "binary",
    maxDbs: 8,
    // Each commit is flushed before it returns. The store's own overlapping flush would make a commit
    // visible to other processes before it is on disk.
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
    checkpoints: table("checkpoints"),
  };
}

function emptied(dataDir: string): FatalError {
  return new FatalError("journal_lost", `the log in \`${dataDir}\` is empty, and there was one`);
}
