// Data sets that are too large for the repository lie beside it, in `../shared`. Tests that need
// them skip where they are absent, and the test command prints why.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { saySkipped } from "./skipped.ts";

export type SharedData = {
  readonly available: boolean;
  /** Absolute path. Read it only when `available`. */
  readonly path: string;
  /** Why it is not available; empty when it is. */
  readonly reason: string;
};

const SHARED = fileURLToPath(new URL("../../../shared", import.meta.url));

/**
 * Finds `relative` in the directory `shared` beside the repository.
 *
 * Use as `describe.skipIf(!data.available)(...)`. Throws when the data is absent but required.
 */
export function sharedData(relative: string): SharedData {
  const path = join(SHARED, relative);
  if (existsSync(path)) {
    return { available: true, path, reason: "" };
  }
  const reason = `\`../shared/${relative}\` is not beside the repository`;
  saySkipped("shared", reason);
  return { available: false, path, reason };
}
