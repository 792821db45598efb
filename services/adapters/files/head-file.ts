/**
 * The head of a data directory: a small file beside the log that identifies the log and stores how
 * far each partition's journal had come. It is replaced as a whole, and is on disk before any later
 * record.
 */
import { closeSync, fsyncSync, openSync } from "node:fs";
import { open, rename } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { FatalError } from "../../runtime/errors.ts";
import {
  type HeadStore,
  type JournalHead,
  parseHead,
  type StoredHead,
} from "../../runtime/journal-head.ts";
import { readWhole } from "./replace-file.ts";

export const HEAD_FILE = "head.json";
const FORMAT = 1;
const FILE_MODE = 0o660;

export type HeadFile = {
  /** The id of the log in the same directory. */
  readonly directoryId: string;
  /** False: the secret is not in the directory, and is passed by whoever opens it. */
  readonly ownsSecret: boolean;
  /** By partition. */
  readonly partitions: readonly StoredHead[];
};

export function headPath(dataDir: string): string {
  return join(dataDir, HEAD_FILE);
}

/** Null where the file does not exist. @throws FatalError `journal_lost` where it is damaged. */
export function readHeadFile(dataDir: string): HeadFile | null {
  const path = headPath(dataDir);
  const text = readWhole(path);
  if (text === null) return null;
  const head = parseHeadFile(jsonOf(text));
  if (head !== null) return head;
  throw new FatalError("journal_lost", `\`${path}\` cannot be read as the head of a log`);
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function parseHeadFile(value: unknown): HeadFile | null {
  if (typeof value !== "object" || value === null) return null;
  const { format, directoryId, ownsSecret, partitions } = value as Record<string, unknown>;
  if (typeof ownsSecret !== "boolean") return null;
  if (format !== FORMAT || typeof directoryId !== "string" || !Array.isArray(partitions))
    return null;
  const heads = partitions.flatMap((one) => parseHead(one) ?? []);
  return heads.length === partitions.length ? { directoryId, ownsSecret, partitions: heads } : null;
}

/** Heads in that file. Saves of several partitions run one after the other. */
export class FileHeads implements HeadStore {
  readonly remedy: string;
  readonly #path: string;
  readonly #file: Omit<HeadFile, "partitions">;
  readonly #partitions: StoredHead[];
  #writing: Promise<void> = Promise.resolve();

  /** @param remedy see `HeadStore`. */
  constructor(dataDir: string, { partitions, ...file }: HeadFile, remedy: string) {
    this.remedy = remedy;
    this.#path = headPath(dataDir);
    this.#file = file;
    this.#partitions = [...partitions];
  }

  async load(partition: number): Promise<StoredHead | null> {
    return this.#partitions[partition] ?? null;
  }

  save(partition: number, head: JournalHead): Promise<void> {
    this.#partitions[partition] = { ...head, acceptance: null };
    return this.write();
  }

  /** Writes the present heads. */
  write(): Promise<void> {
    const written = this.#writing.then(() => this.#write());
    this.#writing = written.catch(() => undefined);
    return written;
  }

  async #write(): Promise<void> {
    const head = { ...this.#file, partitions: this.#partitions };
    // A gate that was replaced while it was suspended may write at the same time.
    const draft = `${this.#path}.${process.pid}.tmp`;
    const file = await open(draft, "w", FILE_MODE);
    try {
      await file.writeFile(`${JSON.stringify({ format: FORMAT, ...head })}\n`);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(draft, this.#path);
    syncDirectory(dirname(this.#path));
  }
}

/** Flushes a directory, so that names in it survive a power loss. */
export function syncDirectory(path: string): void {
  const handle = openSync(path, "r");
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

/** Like `syncDirectory`, for a new directory: its own name survives as well. */
export function syncNewDirectory(path: string): void {
  syncDirectory(path);
  if (basename(path) !== "") syncDirectory(dirname(path));
}
