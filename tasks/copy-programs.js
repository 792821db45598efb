// Copies the tables of programs, which are data, so the compiler does not.
import { copyFileSync, existsSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./ensure-installed.js";

const PROGRAMS = join("services", "commands", "programs.json");

/**
 * A checkout without tables also builds; its gate reports that they are missing.
 * @param {string} build the directory that has `services/`
 */
export function copyPrograms(build) {
  const source = join(ROOT, PROGRAMS);
  if (existsSync(source)) copyFileSync(source, join(build, PROGRAMS));
}
