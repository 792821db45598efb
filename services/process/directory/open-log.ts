/** Opens the log of an embedded gate beside the process that runs the gate. */
import { statSync } from "node:fs";
import { join } from "node:path";
import { LOG_FILE } from "../../adapters/lmdb/environment.ts";
import { systemClock } from "../../adapters/system/clock.ts";
import { asCallgateError } from "../../client/api/callgate-error.ts";
import type { Log } from "../../runtime/ports.ts";
import { type AvroCodec, createAvroCodec } from "../../wire/codec.ts";
import { environmentError } from "../exit-error.ts";
import { fileError, isFileError } from "../text-files.ts";
import { assertNoLosses, findMissingParts, lookAtDirectory } from "./data-directory.ts";
import { openDiskLog } from "./open-storage.ts";

/** Log and codec, to read, or to append verdicts. */
export type DirectoryLog = {
  readonly log: Log;
  readonly codec: AvroCodec;
  close(): Promise<void>;
};

/**
 * @throws ExitError where the directory has no log of a gate; CallgateError where the log cannot be
 *   read.
 */
export function openLog(dataDir: string): DirectoryLog {
  // Opening would create a log, and a mistyped path must not look like a gate without held calls.
  if (sizeOfLog(dataDir) > 0) return openExistingLog(dataDir);
  // A missing or empty log beside other parts is a loss, not a mistyped path.
  assertNoLosses(dataDir, findMissingParts(lookAtDirectory(dataDir)));
  throw environmentError(
    `${dataDir}: holds no log of a gate; name its directory (--data-dir), or the brokers (--config)`,
  );
}

/** 0 where there is no log. */
function sizeOfLog(dataDir: string): number {
  try {
    return statSync(join(dataDir, LOG_FILE)).size;
  } catch (error) {
    // A log without permission is not missing: a foreign directory must not look like a mistyped
    // path.
    if (!isMissing(error)) throw fileError("read", dataDir, error);
    return 0;
  }
}

function openExistingLog(dataDir: string): DirectoryLog {
  try {
    const log = openDiskLog(dataDir, systemClock);
    return { log, codec: createAvroCodec({ secrets: new Map() }), close: () => log.close() };
  } catch (error) {
    throw asCallgateError(error);
  }
}

function isMissing(error: unknown): boolean {
  return isFileError(error) && (error.code === "ENOENT" || error.code === "ENOTDIR");
}
