// `npm run test:pack`: packs the package, installs the tarball with its dependencies in an empty
// project, and uses it there: the command, the import, the types.
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ensureInstalled, npmCommand, ROOT } from "./ensure-installed.js";

/** Files that a published package must not contain. */
const UNWANTED = /^(services|test|tasks|\.ci)$/;

/** A fault of the packed package, printed without a stack. */
class PackageProblem extends Error {}

/**
 * @param {string} what
 * @param {string} command
 * @param {readonly string[]} args
 * @param {string} cwd
 * @returns {string} its standard output
 * @throws {PackageProblem} when it fails
 */
function run(what, command, args, cwd) {
  const done = spawnSync(command, args, { cwd, stdio: ["ignore", "pipe", 2], encoding: "utf8" });
  if (done.status !== 0) {
    throw new PackageProblem(
      `${what} failed: ${done.error?.message ?? `exit code ${done.status}`}: ${done.stdout}`,
    );
  }
  process.stdout.write(`ok     ${what}\n`);
  return done.stdout;
}

/**
 * @param {string} what
 * @param {string[]} args
 * @param {string} cwd
 */
function npm(what, args, cwd) {
  const [command, before] = npmCommand();
  return run(what, command, [...before, ...args], cwd);
}

ensureInstalled();
const manifest = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
const scratch = mkdtempSync(join(tmpdir(), "callgate-pack-"));
try {
  npm("npm pack", ["pack", "--silent", "--pack-destination", scratch], ROOT);
  const tarball = join(scratch, `${manifest.name}-${manifest.version}.tgz`);
  writeFileSync(join(scratch, "package.json"), '{ "private": true, "type": "module" }\n');
  const quiet = ["--ignore-scripts", "--no-audit", "--no-fund", "--silent"];
  npm("install the tarball", ["install", ...quiet, tarball], scratch);

  const unwanted = readdirSync(join(scratch, "node_modules", "callgate")).filter((name) =>
    UNWANTED.test(name),
  );
  if (unwanted.length > 0) {
    throw new PackageProblem(`the package holds what is not for users: ${unwanted.join(", ")}`);
  }
  const version = npm("npx callgate --version", ["exec", "--", "callgate", "--version"], scratch);
  if (version.trim() !== manifest.version) {
    throw new PackageProblem(
      `callgate --version said \`${version.trim()}\`, not \`${manifest.version}\``,
    );
  }
  for (const name of ["check.mjs", "consumer.ts"]) {
    cpSync(join(ROOT, "test", "pack", name), join(scratch, name));
  }
  run("import it and decide", process.execPath, ["check.mjs"], scratch);
  const tsc = join(ROOT, "node_modules", "typescript", "bin", "tsc");
  const strict = ["--strict", "--noEmit", "--module", "NodeNext", "--target", "ES2023"];
  run("compile against its types", process.execPath, [tsc, ...strict, "consumer.ts"], scratch);
} catch (error) {
  if (!(error instanceof PackageProblem)) {
    throw error;
  }
  process.stderr.write(`FAILED ${error.message}\n`);
  process.exitCode = 1;
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
