/** The log of an embedded gate, beside whatever process runs the gate. */
import { statSync } from "node:fs";
import { join } from "node:path";
import { LOG_FILE } from "../../adapters/lmdb/environment.ts";
import { assertNoLosses, findMissingParts, lookAtDirectory } from "../../library/data-directory.ts";
import { type EmbeddedClient, openEmbeddedClient } from "../../library/open-embedded.ts";
import { environmentError } from "../output/cli-error.ts";
import { fileError, isFileError } from "../output/file-error.ts";

/** @throws CliError where no gate has kept a log there; CallgateError where it cannot be read. */
export function openLog(dataDir: string): EmbeddedClient {
  // Opening would make a log: a mistyped path must not look like a gate without holds.
  if (sizeOfLog(dataDir) > 0) return openEmbeddedClient(dataDir);
  assertNothingLost(dataDir);
  throw environmentError(
    `${dataDir}: holds no log of a gate; name its directory (--data-dir), or the brokers (--config)`,
  );
}

/** 0 where there is none. */
function sizeOfLog(dataDir: string): number {
  try {
    return statSync(join(dataDir, LOG_FILE)).size;
  } catch (error) {
    // What may not be looked at is no missing log: somebody else's must not be taken for a wrong path.
    if (!isMissing(error)) throw fileError("read", dataDir, error);
    return 0;
  }
}

/** A log that is missing, or empty, beside what belongs to it: nobody named a wrong path. */
function assertNothingLost(dataDir: string): void {
  assertNoLosses(dataDir, findMissingParts(lookAtDirectory(dataDir)));
}

function isMissing(error: unknown): boolean {
  return isFileError(error) && (error.code === "ENOENT" || error.code === "ENOTDIR");
}
