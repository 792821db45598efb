// The folders of downloads and running parts, which are never inside the source tree.
import { createHash } from "node:crypto";
import { homedir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const NAME_DIGITS = 8;

/** `CALLGATE_CACHE`, or `callgate` in the user's cache folder. */
export function cacheFolder() {
  const { CALLGATE_CACHE: own, XDG_CACHE_HOME: user } = process.env;
  if (own !== undefined && own !== "") return own;
  return join(user === undefined || user === "" ? join(homedir(), ".cache") : user, "callgate");
}

/**
 * Logs, data and state of what `infra:up` started: one folder for each checkout and name.
 * @param {string} name
 */
export function runFolder(name) {
  const checkout = createHash("sha256").update(ROOT).digest("hex").slice(0, NAME_DIGITS);
  return join(cacheFolder(), "runs", `${checkout}-${name}`);
}
