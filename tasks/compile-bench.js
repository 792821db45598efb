// Compiles services/ and test/bench/. A loader that compiles on the fly adds code to hot functions, so the
// bench would run slower than the package.
import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { copyPrograms } from "./copy-programs.js";
import { ROOT } from "./ensure-installed.js";

const CACHE = join(ROOT, "node_modules", ".cache", "callgate-bench");

/** The directory of the compiled bench. */
export const BUILD = join(CACHE, "build", "test", "bench");

/**
 * Links data beside the compiled code, which looks for it above itself as the sources do.
 * @param {string} name
 * @param {string} target
 */
function link(name, target) {
  const path = join(CACHE, name);
  rmSync(path, { force: true });
  symlinkSync(target, path, "dir");
}

/**
 * @param {string} bench for messages
 * @param {readonly string[]} args of Node
 */
export function runNode(bench, args) {
  const { status, error } = spawnSync(process.execPath, args, { cwd: ROOT, stdio: "inherit" });
  if (error !== undefined) {
    process.stderr.write(`${bench}: ${error.message}\n`);
  }
  return status ?? 1;
}

/**
 * @param {string} bench for messages
 * @returns {boolean} whether it compiled
 */
export function compileBench(bench) {
  mkdirSync(CACHE, { recursive: true });
  writeFileSync(join(CACHE, "package.json"), '{ "private": true, "type": "module" }\n');
  link("schemas", join(ROOT, "schemas"));
  link("shared", join(ROOT, "..", "shared"));
  const tsc = join(ROOT, "node_modules", "typescript", "bin", "tsc");
  if (runNode(bench, [tsc, "-p", join(ROOT, "tsconfig.bench.json")]) !== 0) {
    process.stderr.write(`${bench}: the sources do not compile: see above\n`);
    return false;
  }
  copyPrograms(join(CACHE, "build"));
  return true;
}
