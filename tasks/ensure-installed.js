// Installs the packages of package-lock.json when they are missing or have other versions, so that
// `npm test` and `npm run demo` work on a fresh clone. It is plain JavaScript without packages, since it
// runs before they are installed.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT = fileURLToPath(new URL("..", import.meta.url));

/** @param {string} name */
const readManifest = (name) => JSON.parse(readFileSync(join(ROOT, name), "utf8"));

/** Ends the process with exit code 3 when this Node is older than `engines` allows. */
function requireNode() {
  const floor = readManifest("package.json").engines.node.replace(">=", "");
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  const [floorMajor, floorMinor] = floor.split(".").map(Number);
  if (major > floorMajor || (major === floorMajor && minor >= floorMinor)) {
    return;
  }
  process.stderr.write(
    `callgate: Node ${process.versions.node} is too old: install ${floor} or newer and try again\n`,
  );
  process.exit(3);
}

/** @typedef {{ packages?: Record<string, { version?: string, optional?: boolean }> }} Lock */

/**
 * @param {string} name
 * @returns {Lock | undefined}
 */
function readLock(name) {
  return existsSync(join(ROOT, name)) ? readManifest(name) : undefined;
}

/** True when node_modules holds every package of the lock in its locked version. */
function isInstalled() {
  const wanted = readLock("package-lock.json")?.packages ?? {};
  const present = readLock("node_modules/.package-lock.json")?.packages;
  if (present === undefined) {
    return false;
  }
  return Object.entries(wanted).every(
    ([path, entry]) =>
      path === "" || entry.optional === true || present[path]?.version === entry.version,
  );
}

/**
 * The npm that runs this, or else the one on the path.
 * @returns {[command: string, before: string[]]} a program and what goes before npm's own arguments
 */
export function npmCommand() {
  const npm = process.env["npm_execpath"];
  return npm === undefined ? ["npm", []] : [process.execPath, [npm]];
}

/**
 * Runs `npm ci --ignore-scripts` when something is missing, with all its output on stderr; ends the
 * process with exit code 3 when that fails.
 */
export function ensureInstalled() {
  requireNode();
  if (isInstalled()) {
    return;
  }
  process.stderr.write("callgate: installing the packages of package-lock.json (npm ci)\n");
  const args = ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--include=dev"];
  const [command, before] = npmCommand();
  const done = spawnSync(command, [...before, ...args], {
    cwd: ROOT,
    stdio: ["ignore", 2, 2],
  });
  if (done.status !== 0) {
    const why = done.error?.message ?? `npm ci ended with ${done.signal ?? `code ${done.status}`}`;
    process.stderr.write(
      `callgate: the packages could not be installed: ${why}: see npm's message above\n`,
    );
    process.exit(3);
  }
}
