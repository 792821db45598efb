/** The log of an embedded gate, beside whatever process runs the gate. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { type EmbeddedClient, openEmbeddedClient } from "../../sdk/open-embedded.ts";
import { environmentError } from "../output/cli-error.ts";

/** What the embedded log is kept in. */
const LOG_FILE = "log.mdb";

/** @throws CliError where no gate has kept a log there; CallgateError where it cannot be read. */
export function openLog(dataDir: string): EmbeddedClient {
  // Opening would make a log: a mistyped path must not look like a gate without holds.
  if (!existsSync(join(dataDir, LOG_FILE))) {
    throw environmentError(
      `${dataDir}: holds no log of a gate; name its directory (--data-dir), or the brokers (--config)`,
    );
  }
  return openEmbeddedClient(dataDir);
}
