// The tables of programs are YAML in a checkout, and one file of JSON in a build.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { ROOT } from "./ensure-installed.js";

/** Where the tables are, in a checkout and, with `.json`, in a build. */
export const PROGRAMS = join("services", "commands", "programs");

/**
 * Reads the tables of the checkout by the code of a build, and writes them into the build.
 * @param {string} build the directory that has `services/`
 * @throws {Error} with file, line and key where a table has a fault
 */
export async function writePrograms(build) {
  const reader = join(build, "services", "adapters", "programs", "read-programs.js");
  const { readProgramFiles } = await import(pathToFileURL(reader).href);
  const programs = readProgramFiles(join(ROOT, PROGRAMS));
  const text = JSON.stringify(programs, (key, value) => (key === "examples" ? undefined : value));
  writeFileSync(join(build, `${PROGRAMS}.json`), text);
}
