// What a Kafka cluster is called: its brokers refuse data of one that is called otherwise.
import { randomBytes } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

const CLUSTER_ID_BYTES = 16;

/** One that begins with a hyphen would be taken for an option. */
export function makeClusterId() {
  return randomBytes(CLUSTER_ID_BYTES).toString("base64url").replace(/^-/, "A");
}

/**
 * @param {string} dataFolder of a broker
 * @returns {string | undefined} the id of the data that an earlier start has left; undefined: there are none
 */
export function readClusterId(dataFolder) {
  const path = join(dataFolder, "meta.properties");
  if (!existsSync(path)) return undefined;
  return /^cluster\.id=(\S+)$/m.exec(readFileSync(path, "utf8"))?.[1];
}
