// `npm run bench`: compiles services/ and test/bench/ and runs the compiled bench. A loader that
// compiles on the fly adds to hot functions, so what it runs is slower than what users run.
import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ensureInstalled, ROOT } from "./ensure-installed.js";

const MISSING = 3;
const CACHE = join(ROOT, "node_modules", ".cache", "callgate-bench");

/**
 * The compiled code finds its data where the sources would: above itself.
 * @param {string} name
 * @param {string} target
 */
function link(name, target) {
  const path = join(CACHE, name);
  rmSync(path, { force: true });
  symlinkSync(target, path, "dir");
}

/** @param {string[]} args */
function run(args) {
  const { status, error } = spawnSync(process.execPath, args, { cwd: ROOT, stdio: "inherit" });
  if (error !== undefined) {
    process.stderr.write(`bench: ${error.message}\n`);
  }
  return status ?? 1;
}

ensureInstalled();
mkdirSync(CACHE, { recursive: true });
writeFileSync(join(CACHE, "package.json"), '{ "private": true, "type": "module" }\n');
link("schemas", join(ROOT, "schemas"));
link("shared", join(ROOT, "..", "shared"));
const tsc = join(ROOT, "node_modules", "typescript", "bin", "tsc");
if (run([tsc, "-p", join(ROOT, "tsconfig.bench.json")]) === 0) {
  const program = join(CACHE, "build", "test", "bench", "run.js");
  process.exitCode = run(["--expose-gc", program, ...process.argv.slice(2)]);
} else {
  process.stderr.write("bench: the sources do not compile: see above\n");
  process.exitCode = MISSING;
}
