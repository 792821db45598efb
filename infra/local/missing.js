// What the machine must have before anything is started. A part that is missing is no fault of the
// program: the message names the package.
import { spawnSync } from "node:child_process";

export class MissingError extends Error {
  /** @param {string} message says what is missing and how it is had */
  constructor(message) {
    super(message);
    this.name = "MissingError";
  }
}

/** @type {Record<string, { args: string[], package: string }>} */
const PROGRAMS = {
  java: { args: ["-version"], package: "openjdk-17-jre-headless" },
  mvn: { args: ["-version"], package: "maven" },
  "redis-server": { args: ["--version"], package: "redis-server" },
};

/**
 * @param {string} name a key of PROGRAMS
 * @returns {string | undefined} what is missing, and what to do
 */
export function findMissing(name) {
  const program = PROGRAMS[name];
  if (program === undefined) throw new Error(`${name} is not a known program`);
  const { error, status } = spawnSync(name, program.args, { stdio: "ignore" });
  if (error === undefined && status === 0) return undefined;
  return `\`${name}\` is not on the path: install it (Debian: apt-get install ${program.package})`;
}

/** @param {string[]} names */
export function requirePrograms(names) {
  const missing = names.map(findMissing).filter((text) => text !== undefined);
  if (missing.length > 0) throw new MissingError(missing.join("; "));
}
