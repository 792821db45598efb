/**
 * The state store in one memory-mapped file of its own. It is a cache: a file that is damaged or of
 * another format is replaced by an empty one.
 */
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Database, RootDatabase } from "lmdb";
import { PipelineError, RetryableError, StateCorruptError } from "../../runtime/errors.ts";
import type { CheckpointBlob } from "../../runtime/ports.ts";
import { exchangeHash, NO_SUM } from "../../runtime/state-hash.ts";
import type {
  StateStore,
  StoreBatch,
  StoreEntry,
  StoreLook,
  StoreSummary,
} from "../../runtime/state-store.ts";
import { makeDirectory } from "../system/make-directory.ts";
import { inspectFile } from "./inspect-file.ts";
import { type LmdbOpen, loadOpen } from "./load-open.ts";
import { isDamage } from "./map-error.ts";
import { decodeEntry, decodeState, encodeEntry, encodeState, rowKey } from "./state-rows.ts";

/** Name of the file in its directory. */
export const STATE_FILE = "conversations.mdb";

type Root = RootDatabase<Buffer, Buffer>;
type Table = Database<Buffer, Buffer>;
/** `states`: the conversations; `entries`: what is known of them without reading them. */
type PartitionTables = { readonly states: Table; readonly entries: Table };

/** Two tables for each partition, and the positions. */
const TABLES_MAX = 4_096;
/**
 * Of the file. LMDB has up to 8,192 stretches of 16 pages mapped at a time, so this bounds the memory that
 * they take: 128 MiB. A state of five calls fills two pages.
 */
const PAGE_BYTES = 1_024;
/** Smaller values are not worth compressing. */
const COMPRESS_FROM_BYTES = 512;
const FILE_MODE = 0o600;

export class LmdbStateStore implements StateStore {
  readonly #directory: string;
  readonly #beforeWrite: () => void;
  readonly #root: Root;
  readonly #positions: Table;
  readonly #partitions = new Map<number, PartitionTables>();
  #lastWrite: Promise<void> = Promise.resolve();
  #closed = false;

  /**
   * @param beforeWrite throws where this process may not write any more.
   * @throws PipelineError where the directory cannot be used, or the package is not installed.
   */
  constructor(directory: string, beforeWrite: () => void = () => undefined) {
    this.#directory = directory;
    this.#beforeWrite = beforeWrite;
    const open = loadOpen(directory);
    makeDirectory(directory, 0o700);
    this.#root = openOrReplace(open, join(directory, STATE_FILE));
    this.#positions = this.#table("positions");
  }

  /** Of the pages in use: the file never becomes smaller, and what is free in it is used again. */
  get bytes(): number {
    return this.#run(() => {
      this.#root.resetReadTxn();
      let bytes = 0;
      for (const { states, entries } of this.#partitions.values()) {
        bytes += pageBytes(states) + pageBytes(entries);
      }
      return bytes;
    });
  }

  look(partition: number): StoreLook {
    return this.#run(() => {
      this.#root.resetReadTxn();
      const bytes = this.#positions.get(positionKey(partition));
      if (bytes === undefined) return { summary: null, problem: null };
      const summary = parseSummary(bytes);
      return { summary, problem: summary === null ? "its position cannot be read" : null };
    });
  }

  get(partition: number, key: string): CheckpointBlob | undefined {
    return this.#run(() => {
      const bytes = this.#tables(partition).states.get(rowKey(key));
      return bytes === undefined ? undefined : decodeState(key, bytes);
    });
  }

  *entries(partition: number): Iterable<StoreEntry> {
    const { entries } = this.#run(() => this.#tables(partition));
    for (const { key, value } of entries.getRange()) {
      const entry = decodeEntry(value);
      if (entry === undefined) throw this.#damaged();
      const { seq, deadlineMs, dropAtMs } = entry;
      yield { key: entry.key ?? key.toString(), seq, deadlineMs, dropAtMs };
    }
  }

  write(partition: number, batch: StoreBatch): Promise<void> {
    return this.#inTurn(() => this.#put(partition, batch));
  }

  clear(partition: number): Promise<void> {
    return this.#inTurn(() => {
      const { states, entries } = this.#tables(partition);
      this.#root.transactionSync(() => {
        this.#positions.removeSync(positionKey(partition));
        states.clearSync();
        entries.clearSync();
      });
      return Promise.resolve();
    });
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#lastWrite;
    await this.#root.close();
  }

  /** Writes one thing after the other, since each depends on what the one before it has written. */
  #inTurn(action: () => Promise<unknown>): Promise<void> {
    const written = this.#lastWrite.then(async () => {
      try {
        this.#run(this.#beforeWrite);
        this.#root.resetReadTxn();
        await action();
        this.#root.resetReadTxn();
      } catch (error) {
        throw this.#mapError(await reasonOf(error));
      }
    });
    this.#lastWrite = written.catch(() => undefined);
    return written;
  }

  /** One transaction of LMDB's thread. */
  #put(partition: number, { puts, removals, header }: StoreBatch): Promise<boolean> {
    const { states, entries } = this.#tables(partition);
    const removed = removals.map(rowKey);
    const rows = puts.map((blob) => {
      const row = rowKey(blob.key);
      return { row, state: encodeState(blob), entry: encodeEntry(blob, row) };
    });
    const before = this.#totals(partition);
    let count = (before?.count ?? 0) + puts.length;
    let stateSum = before?.stateSum ?? NO_SUM;
    for (const { hash } of puts) stateSum = exchangeHash(stateSum, "", hash);
    for (const row of [...removed, ...rows.map((one) => one.row)]) {
      const old = entries.get(row);
      const entry = old === undefined ? undefined : decodeEntry(old);
      if (entry === undefined) continue;
      count -= 1;
      stateSum = exchangeHash(stateSum, entry.hashStart, "");
    }
    const position = { header: header ?? before?.header ?? null, count, stateSum };
    return this.#root.batch(() => {
      for (const row of removed) {
        void states.remove(row);
        void entries.remove(row);
      }
      for (const { row, state, entry } of rows) {
        void states.put(row, state);
        void entries.put(row, entry);
      }
      void this.#positions.put(positionKey(partition), Buffer.from(JSON.stringify(position)));
    });
  }

  #totals(partition: number): Totals | null {
    const stored = this.#positions.get(positionKey(partition));
    return stored === undefined ? null : parseTotals(stored);
  }

  #tables(partition: number): PartitionTables {
    const opened = this.#partitions.get(partition);
    if (opened !== undefined) return opened;
    const states = this.#table(`states-${partition}`, { threshold: COMPRESS_FROM_BYTES });
    const tables = { states, entries: this.#table(`entries-${partition}`) };
    this.#partitions.set(partition, tables);
    return tables;
  }

  #table(name: string, compression?: { readonly threshold: number }): Table {
    const compressed = compression === undefined ? {} : { compression };
    const bytes = { encoding: "binary", keyEncoding: "binary" } as const;
    return this.#root.openDB<Buffer, Buffer>({ name, ...bytes, ...compressed });
  }

  #run<T>(action: () => T): T {
    try {
      if (this.#closed) throw new Error("it is closed");
      return action();
    } catch (error) {
      throw this.#mapError(error);
    }
  }

  #mapError(error: unknown): PipelineError {
    if (error instanceof PipelineError) return error;
    if (isDamage(error)) return this.#damaged(error);
    const problem = error instanceof Error ? error.message : String(error);
    const text = `the state store in \`${this.#directory}\` failed: ${problem}`;
    return new RetryableError("checkpoint_unavailable", text, { cause: error });
  }

  #damaged(cause?: unknown): StateCorruptError {
    const text = `the state store in \`${this.#directory}\` is damaged`;
    return new StateCorruptError(text, { cause });
  }
}

/** Why a transaction of LMDB's thread failed: its error has that as a promise. */
async function reasonOf(error: unknown): Promise<unknown> {
  const reason: unknown = error instanceof Error ? Reflect.get(error, "commitError") : undefined;
  if (!(reason instanceof Promise)) return error;
  return reason.then(
    () => error,
    (why: unknown) => why,
  );
}

function openOrReplace(open: LmdbOpen, path: string): Root {
  try {
    // A file that was cut off would end the process when its lost pages are read.
    if (inspectFile(path) !== "short") return openRoot(open, path);
  } catch (error) {
    if (!existsSync(path)) throw error;
  }
  rmSync(path, { force: true });
  rmSync(`${path}-lock`, { force: true });
  return openRoot(open, path);
}

function openRoot(open: LmdbOpen, path: string): Root {
  return open<Buffer, Buffer>({
    path,
    // The store has this option, but its types do not.
    ...{ permissionsMode: FILE_MODE },
    encoding: "binary",
    keyEncoding: "binary",
    maxDbs: TABLES_MAX,
    // Pages that are not in use are unmapped: otherwise all that was ever read counts as memory.
    remapChunks: true,
    pageSize: PAGE_BYTES,
    // A write does not wait for the disk. After a loss of power the file is what it was at an earlier
    // write, and the journal has the rest.
    overlappingSync: true,
    // Batches are made here. Those of an event turn reject a promise that nobody holds.
    eventTurnBatching: false,
  });
}

function positionKey(partition: number): Buffer {
  const key = Buffer.alloc(4);
  key.writeUInt32BE(partition);
  return key;
}

type TableStats = {
  readonly pageSize: number;
  readonly treeBranchPageCount: number;
  readonly treeLeafPageCount: number;
  readonly overflowPages: number;
};

function pageBytes(table: Table): number {
  const stats = table.getStats() as TableStats;
  const pages = stats.treeBranchPageCount + stats.treeLeafPageCount + stats.overflowPages;
  return pages * stats.pageSize;
}

type Totals = Omit<StoreSummary, "header"> & { readonly header: StoreSummary["header"] | null };

function parseTotals(bytes: Buffer): Totals | null {
  try {
    const totals = JSON.parse(bytes.toString()) as Totals;
    const { count, stateSum } = totals;
    return typeof count === "number" && typeof stateSum?.high === "number" ? totals : null;
  } catch {
    return null;
  }
}

/** Null where no save has ended yet, too: what it wrote is of no position. */
function parseSummary(bytes: Buffer): StoreSummary | null {
  const totals = parseTotals(bytes);
  const header = totals?.header;
  if (totals === null || typeof header?.seq !== "number") return null;
  return { header, count: totals.count, stateSum: totals.stateSum };
}
