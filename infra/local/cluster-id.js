// The id of a Kafka cluster. Brokers refuse data of a cluster with another id.
import { randomBytes } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

const CLUSTER_ID_BYTES = 16;

/** An id that begins with a hyphen would be taken for an option. */
export function makeClusterId() {
  return randomBytes(CLUSTER_ID_BYTES).toString("base64url").replace(/^-/, "A");
}

/**
 * @param {string} dataFolder of a broker
 * @returns {string | undefined} the id in the data of an earlier start; undefined if there is no data
 */
export function readClusterId(dataFolder) {
  const path = join(dataFolder, "meta.properties");
  if (!existsSync(path)) return undefined;
  return /^cluster\.id=(\S+)$/m.exec(readFileSync(path, "utf8"))?.[1];
}
