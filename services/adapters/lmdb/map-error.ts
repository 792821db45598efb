import { statfsSync } from "node:fs";
import {
  type ErrorOptions,
  FatalError,
  PipelineError,
  RetryableError,
} from "../../runtime/errors.ts";

/**
 * With less free space, an I/O error counts as a full disk: the store reports short writes as I/O
 * errors.
 */
const FREE_BYTES_LOW = 8 * 1024 * 1024;

const EPERM = 1;
const EIO = 5;
const EACCES = 13;
const EEXIST = 17;
const ENOTDIR = 20;
const ENOSPC = 28;
const EROFS = 30;
const EDQUOT = 122;
const MDB_MAP_FULL = -30792;
const MDB_DAMAGED = [-30793, -30794, -30795, -30796, -30797];

/** Whether an error says that the store's file is damaged. */
export function isDamage(error: unknown): boolean {
  return MDB_DAMAGED.includes(codeOf(error));
}

/** Maps errors of the store to the errors of the runtime, with a remedy. */
export function mapStoreError(error: unknown, dataDir: string): PipelineError {
  if (error instanceof PipelineError) return error;
  const code = codeOf(error);
  const options: ErrorOptions = { cause: error, context: { dataDir, storeCode: code } };
  if (code === ENOSPC || code === EDQUOT || code === MDB_MAP_FULL || isFull(code, dataDir)) {
    return new RetryableError(
      "log_full",
      `no space left for \`${dataDir}\`: nothing was written; free some space, it goes on by itself`,
      options,
    );
  }
  if (code === EACCES || code === EPERM || code === EROFS) {
    return new FatalError(
      "log_unreadable",
      `\`${dataDir}\` cannot be read and written: check owner and permissions of the directory ` +
        "and the files in it",
      options,
    );
  }
  if (code === EEXIST || code === ENOTDIR) {
    const text = `\`${dataDir}\` is not a directory: set the path of a directory`;
    return new FatalError("log_unreadable", text, options);
  }
  if (MDB_DAMAGED.includes(code)) {
    return new FatalError(
      "log_corrupt",
      `the log in \`${dataDir}\` is damaged: restore the directory from a backup, or move it away ` +
        "to start with an empty one",
      options,
    );
  }
  const text = error instanceof Error ? error.message : String(error);
  return new RetryableError(
    "log_unavailable",
    `the log in \`${dataDir}\` failed: ${text}`,
    options,
  );
}

function codeOf(error: unknown): number {
  const code: unknown = error instanceof Error ? Reflect.get(error, "code") : undefined;
  if (typeof code === "number") return code;
  const errorNumbers: Readonly<Record<string, number>> = {
    EACCES,
    EPERM,
    EROFS,
    ENOSPC,
    EIO,
    EEXIST,
    ENOTDIR,
    EDQUOT,
  };
  return typeof code === "string" ? (errorNumbers[code] ?? 0) : 0;
}

function isFull(code: number, dataDir: string): boolean {
  if (code !== EIO) return false;
  try {
    const { bavail, bsize } = statfsSync(dataDir);
    return bavail * bsize < FREE_BYTES_LOW;
  } catch {
    return false;
  }
}
