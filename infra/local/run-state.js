// The state file lists what `infra:up` has started. `infra:status` reads it, and `infra:down` ends exactly
// those processes.
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runFolder } from "./folders.js";
import { isAlive } from "./process-identity.js";

/**
 * @typedef {import("./process-identity.js").ProcessIdentity} ProcessIdentity
 * @typedef {ProcessIdentity & { name: string, address: string }} RunningProcess
 * @typedef {{
 *   part: string,
 *   address: string,
 *   about: Record<string, unknown>,
 *   ports: readonly number[],
 *   processes: RunningProcess[],
 * }} RunningPart `address` is for clients; `about` says how the part was started; `ports` are those on which
 *   it is started again once it has ended by itself.
 */

/** @param {string} name */
const stateFile = (name) => join(runFolder(name), "state.json");

/**
 * @param {string} name of the run
 * @returns {RunningPart[]} in the order of their start; empty when nothing was started
 */
export function readState(name) {
  const path = stateFile(name);
  return existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : [];
}

/**
 * @param {string} name
 * @param {readonly RunningPart[]} parts
 */
export function writeState(name, parts) {
  const path = stateFile(name);
  mkdirSync(runFolder(name), { recursive: true });
  writeFileSync(`${path}.new`, `${JSON.stringify(parts, undefined, 2)}\n`);
  renameSync(`${path}.new`, path);
}

/** @param {string} name */
export function removeRun(name) {
  rmSync(runFolder(name), { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
}

/**
 * Processes of a part that have ended; their pids may belong to others by now.
 * @param {RunningPart} part
 */
export function findGone(part) {
  return part.processes.filter((entry) => !isAlive(entry));
}
