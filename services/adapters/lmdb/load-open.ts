import type * as Lmdb from "lmdb";
import { FatalError } from "../../runtime/errors.ts";
import { loadOptional } from "../system/optional-package.ts";

export type LmdbOpen = typeof Lmdb.open;

/**
 * Loads the store with the first directory: a gate without one needs no native part. @throws
 * FatalError before anything is created.
 */
export function loadOpen(directory: string): LmdbOpen {
  const lmdb = loadOptional<typeof Lmdb>("lmdb");
  if (lmdb.ok) return lmdb.loaded.open;
  const text = `the data directory \`${directory}\` cannot be opened: ${lmdb.problem}; a program may set \`dataDir: false\` instead`;
  throw new FatalError("log_unreadable", text, { cause: lmdb.cause });
}
