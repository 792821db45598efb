// Compiles the sources once into a folder of their own, so that every process of a run has the same build
// even if somebody edits the sources meanwhile. The test command checks types.
import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
/** A folder for this run, since another run may be going on. */
const CACHE = join(ROOT, "node_modules", ".cache", `callgate-faults-${process.pid}`);

/** The compiled command line: what `bin/callgate.js` starts. */
export const COMMAND = join(CACHE, "dist", "services", "cli", "main.js");

/** The folder of the compiled Java. */
export const CLASSES = join(CACHE, "classes");

export function buildOnce(): void {
  rmSync(CACHE, { recursive: true, force: true });
  mkdirSync(CACHE, { recursive: true });
  process.once("exit", () => rmSync(CACHE, { recursive: true, force: true }));
  writeFileSync(
    join(CACHE, "package.json"),
    '{ "private": true, "type": "module", "version": "0.0.0" }\n',
  );
  symlinkSync(join(ROOT, "schemas"), join(CACHE, "schemas"), "dir");
  const tsc = join(ROOT, "node_modules", "typescript-native", "bin", "tsc");
  const args = [
    tsc,
    "-p",
    join(ROOT, "tsconfig.json"),
    "--noCheck",
    "--outDir",
    join(CACHE, "dist"),
  ];
  const { status } = spawnSync(process.execPath, args, { cwd: ROOT, stdio: "inherit" });
  if (status !== 0) throw new Error("the sources do not compile: see above");
}
