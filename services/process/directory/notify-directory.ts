import { join } from "node:path";
import type { Config } from "../../adapters/config/config-schema.ts";

const DIRECTORY = "callgate-notify";
const IN_DATA_DIRECTORY = "notify";

/**
 * Where webhooks that are not delivered yet are stored.
 * @param dataDir of an embedded gate; undefined: the gate is on a cluster.
 */
export function notifyDirectoryOf({ notify }: Config, dataDir: string | undefined): string {
  if (notify.directory !== undefined) return notify.directory;
  return dataDir === undefined ? DIRECTORY : join(dataDir, IN_DATA_DIRECTORY);
}
