// `npm run lock:complete`: adds packages for other platforms that a registry mirror left out of
// package-lock.json. `npm ci` refuses a lock without them even if it installs none of them. The added
// entries have no integrity, since the mirror does not have the packages.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./ensure-installed.js";

/**
 * @typedef {{
 *   version?: string, dev?: boolean, optional?: boolean, os?: string[], cpu?: string[],
 *   libc?: string[], optionalDependencies?: Record<string, string>,
 * }} Entry
 * @typedef {{ name: string, version: string, dev: boolean }} Hole
 */

const SYSTEMS = ["android", "darwin", "freebsd", "linux", "openharmony", "win32"];
const PROCESSORS = ["arm64", "x64", "ia32", "ppc64", "riscv64", "s390x", "arm"];
/** @type {readonly (readonly [word: string, libc: string])[]} */
const LIBC = [
  ["musl", "musl"],
  ["gnu", "glibc"],
];

/**
 * Whether the package at `path` finds `name` where Node would look for it.
 * @param {Record<string, Entry>} packages
 * @param {string} path
 * @param {string} name
 */
function canResolve(packages, path, name) {
  for (let from = path; ; from = from.slice(0, Math.max(0, from.lastIndexOf("/node_modules/")))) {
    if (`${from === "" ? "" : `${from}/`}node_modules/${name}` in packages) {
      return true;
    }
    if (from === "") {
      return false;
    }
  }
}

/**
 * @param {Record<string, Entry>} packages the `packages` of a lock
 * @returns {Hole[]} optional dependencies that the lock does not have
 */
export function findHoles(packages) {
  return Object.entries(packages).flatMap(([path, entry]) =>
    Object.entries(entry.optionalDependencies ?? {})
      .filter(([name]) => !canResolve(packages, path, name))
      .map(([name, version]) => ({ name, version, dev: entry.dev === true })),
  );
}

/**
 * @param {Hole} hole
 * @returns {Entry}
 */
export function fillHole({ name, version, dev }) {
  const words = name.split(/[/-]/);
  const os = SYSTEMS.find((system) => words.includes(system));
  const cpu = PROCESSORS.find((processor) => words.includes(processor));
  if (os === undefined || cpu === undefined || !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version)) {
    throw new Error(
      `\`${name}@${version}\` is not in the lock and names no platform: add it by hand`,
    );
  }
  const libc = LIBC.find(([word]) => words.at(-1)?.startsWith(word))?.[1];
  return {
    version,
    cpu: [cpu],
    ...(dev ? { dev } : {}),
    ...(libc === undefined ? {} : { libc: [libc] }),
    optional: true,
    os: [os],
  };
}

if (process.argv[1] === import.meta.filename) {
  const path = join(ROOT, "package-lock.json");
  const lock = JSON.parse(readFileSync(path, "utf8"));
  const holes = findHoles(lock.packages);
  for (const hole of holes) {
    lock.packages[`node_modules/${hole.name}`] = fillHole(hole);
  }
  const sorted = Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : 1));
  lock.packages = Object.fromEntries(sorted);
  writeFileSync(path, `${JSON.stringify(lock, null, 2)}\n`);
  process.stdout.write(`${holes.length} packages for other platforms added to package-lock.json\n`);
}
