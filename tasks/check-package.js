// `npm run test:pack`: packs the package, installs the tarball with its dependencies in an empty
// project, and uses it there: the command, the import, the types. Then the same without the optional
// packages, where it must stay small.
import { spawnSync } from "node:child_process";
import {
  cpSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ensureInstalled, npmCommand, ROOT } from "./ensure-installed.js";

/** Files that a published package must not contain. */
const UNWANTED = /^(services|test|tasks|\.ci)$/;
/** What an installation without optional packages may take. */
const MINIMAL_MB_MAX = 40;
/** Printed, and not asserted: a busy machine takes longer. */
const IMPORT_MS_MAX = 300;
const IMPORT_RUNS = 5;

/** A fault of the packed package, printed without a stack. */
class PackageProblem extends Error {}

/** @param {string} text */
const print = (text) => process.stdout.write(`${text}\n`);

/**
 * @param {string} command
 * @param {readonly string[]} args
 * @param {string} cwd
 */
function spawn(command, args, cwd) {
  return spawnSync(command, args, { cwd, stdio: ["ignore", "pipe", "pipe"], encoding: "utf8" });
}

/**
 * @param {string} what
 * @param {string} command
 * @param {readonly string[]} args
 * @param {string} cwd
 * @returns {string} its standard output
 * @throws {PackageProblem} when it fails
 */
function run(what, command, args, cwd) {
  const done = spawn(command, args, cwd);
  process.stderr.write(done.stderr);
  if (done.status !== 0) {
    throw new PackageProblem(
      `${what} failed: ${done.error?.message ?? `exit code ${done.status}`}: ${done.stdout}`,
    );
  }
  print(`ok     ${what}`);
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

/**
 * Makes a project that has installed the tarball.
 * @param {string} project
 * @param {string} tarball
 * @param {{ what: string, options?: string[], scripts: readonly string[] }} install
 */
function install(project, tarball, { what, options = [], scripts }) {
  mkdirSync(project);
  writeFileSync(join(project, "package.json"), '{ "private": true, "type": "module" }\n');
  const quiet = ["--ignore-scripts", "--no-audit", "--no-fund", "--silent"];
  npm(what, ["install", ...quiet, ...options, tarball], project);
  for (const name of scripts) {
    cpSync(join(ROOT, "test", "pack", name), join(project, name));
  }
}

/**
 * @param {string} project
 * @param {string} version
 * @throws {PackageProblem}
 */
function checkContents(project, version) {
  const folder = join(project, "node_modules", "callgate");
  const unwanted = readdirSync(folder).filter((name) => UNWANTED.test(name));
  if (unwanted.length > 0) {
    throw new PackageProblem(`the package holds what is not for users: ${unwanted.join(", ")}`);
  }
  const printed = npm("npx callgate --version", ["exec", "--", "callgate", "--version"], project);
  if (printed.trim() !== version) {
    throw new PackageProblem(`callgate --version said \`${printed.trim()}\`, not \`${version}\``);
  }
}

/**
 * DuckDB is a peer that only the analytics need: without it, they must say so in one sentence.
 * @param {string} project
 * @throws {PackageProblem}
 */
function checkAnalytics(project) {
  const bin = join(project, "node_modules", "callgate", "bin", "callgate.js");
  mkdirSync(join(project, "callgate-analytics", "decisions"), { recursive: true });
  const done = spawn(process.execPath, [bin, "analytics", "query", "select 1"], project);
  const hasAsked = /`npm install @duckdb\/node-api`/.test(done.stderr);
  if (done.status === 0 || !hasAsked || done.stderr.trim().includes("\n")) {
    throw new PackageProblem(
      `callgate analytics query without DuckDB: exit code ${done.status}: ${done.stdout}${done.stderr}`,
    );
  }
  print("ok     callgate analytics query asks for DuckDB");
}

/**
 * @param {string} folder
 * @returns {number} bytes of its files on the disk
 */
function diskBytes(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, { parentPath, name }) => sum + lstatSync(join(parentPath, name)).blocks * 512, 0);
}

/** @param {string} project */
function megabytes(project) {
  return diskBytes(join(project, "node_modules")) / 1_000_000;
}

/** @param {string} project */
function packageCount(project) {
  const lock = readFileSync(join(project, "node_modules", ".package-lock.json"), "utf8");
  return Object.keys(JSON.parse(lock).packages).length;
}

/**
 * @param {string} project
 * @returns {readonly number[]} the processor time of each import, in ms, sorted
 */
function importTimes(project) {
  return Array.from({ length: IMPORT_RUNS }, () =>
    Number(spawn(process.execPath, ["import-time.mjs"], project).stdout),
  ).sort((a, b) => a - b);
}

/**
 * @param {string} name
 * @param {string} project
 */
function printMeasures(name, project) {
  const times = importTimes(project);
  const [least = 0, median = 0, most = 0] = [times[0], times[IMPORT_RUNS >> 1], times.at(-1)];
  print(
    `size   ${name}: ${megabytes(project).toFixed(1)} MB, ${packageCount(project)} packages; ` +
      `import takes ${median.toFixed(0)} ms of processor time (${least.toFixed(0)}-${most.toFixed(0)})`,
  );
  if (median > IMPORT_MS_MAX) {
    print(`WARN   import should take at most ${IMPORT_MS_MAX} ms of processor time`);
  }
}

/**
 * @param {string} scratch
 * @param {string} tarball
 * @param {string} version
 */
function checkWhole(scratch, tarball, version) {
  const project = join(scratch, "whole");
  const scripts = ["check.mjs", "consumer.ts", "import-time.mjs"];
  install(project, tarball, { what: "install the tarball", scripts });
  checkContents(project, version);
  run("import it and decide", process.execPath, ["check.mjs"], project);
  const tsc = join(ROOT, "node_modules", "typescript", "bin", "tsc");
  const strict = ["--strict", "--noEmit", "--module", "NodeNext", "--target", "ES2023"];
  run("compile against its types", process.execPath, [tsc, ...strict, "consumer.ts"], project);
  checkAnalytics(project);
  printMeasures("with optional packages", project);
}

/**
 * @param {string} scratch
 * @param {string} tarball
 * @param {string} version
 */
function checkMinimal(scratch, tarball, version) {
  const project = join(scratch, "minimal");
  const scripts = ["check-minimal.mjs", "import-time.mjs"];
  const what = "install it with --omit=optional";
  install(project, tarball, { what, options: ["--omit=optional"], scripts });
  checkContents(project, version);
  run("decide without optional packages", process.execPath, ["check-minimal.mjs"], project);
  printMeasures("without optional packages", project);
  const size = megabytes(project);
  if (size > MINIMAL_MB_MAX) {
    throw new PackageProblem(
      `without optional packages it takes ${size} MB, over ${MINIMAL_MB_MAX}`,
    );
  }
}

ensureInstalled();
const manifest = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
const scratch = mkdtempSync(join(tmpdir(), "callgate-pack-"));
try {
  npm("npm pack", ["pack", "--silent", "--pack-destination", scratch], ROOT);
  const tarball = join(scratch, `${manifest.name}-${manifest.version}.tgz`);
  checkWhole(scratch, tarball, manifest.version);
  checkMinimal(scratch, tarball, manifest.version);
} catch (error) {
  if (!(error instanceof PackageProblem)) {
    throw error;
  }
  process.stderr.write(`FAILED ${error.message}\n`);
  process.exitCode = 1;
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
