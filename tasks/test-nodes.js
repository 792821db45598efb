// `npm run test:nodes`: runs the unit, property and golden tests and the demo on the other Node versions that
// the package supports. It installs them from the npm packages `node-linux-*` into a cache outside the source
// tree, and ends with exit code 3 and a reason where it cannot.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { ensureInstalled, npmCommand, ROOT } from "./ensure-installed.js";
import { runnerOptions } from "./runner-options.js";

const VERSIONS = ["22.x", "24.x"];
const PROJECTS = ["unit", "property", "golden"];
const DEMO_LIMIT_MS = 120_000;

/** @param {string} reason @returns {never} */
function unavailable(reason) {
  process.stderr.write(`callgate: other Node versions cannot be tested here: ${reason}\n`);
  process.exit(3);
}

/**
 * @param {string} version such as `22.x`
 * @returns {string} path of its `node`
 */
function install(version) {
  const name = `node-${process.platform}-${process.arch}`;
  if (process.platform !== "linux" || !["x64", "arm64"].includes(process.arch)) {
    unavailable(`there is no package \`${name}\` for this platform that is known to work`);
  }
  const cache = process.env["XDG_CACHE_HOME"] || join(homedir(), ".cache");
  const home = join(cache, "callgate", "nodes", version);
  const node = join(home, "node_modules", name, "bin", "node");
  if (existsSync(node)) {
    return node;
  }
  process.stderr.write(`callgate: fetching Node ${version} (package ${name}) into ${home}\n`);
  mkdirSync(home, { recursive: true });
  const [command, before] = npmCommand();
  const args = ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock"];
  const done = spawnSync(command, [...before, ...args, "--prefix", home, `${name}@${version}`], {
    cwd: home,
    stdio: ["ignore", 2, 2],
  });
  if (done.status !== 0 || !existsSync(node)) {
    unavailable(`\`${name}@${version}\` could not be installed: see npm's message above`);
  }
  return node;
}

/**
 * @param {string} node
 * @param {string[]} args
 * @param {import("node:child_process").SpawnSyncOptions} [options]
 * @returns {boolean} whether it ended with exit code 0
 */
function succeeds(node, args, options = {}) {
  const done = spawnSync(node, args, {
    cwd: ROOT,
    stdio: ["ignore", "inherit", "inherit"],
    ...options,
  });
  return done.status === 0;
}

/** @param {string} node */
function demoRuns(node) {
  const scratch = mkdtempSync(join(tmpdir(), "callgate-demo-"));
  try {
    const demo = [join(ROOT, "bin", "callgate.js"), "demo"];
    return succeeds(node, demo, { cwd: scratch, timeout: DEMO_LIMIT_MS });
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

ensureInstalled();
runnerOptions("test:nodes", {});
let failed = 0;
for (const version of VERSIONS) {
  const node = install(version);
  const exact = spawnSync(node, ["--version"], { encoding: "utf8" }).stdout.trim();
  process.stdout.write(`\n== Node ${exact}\n`);
  const projects = PROJECTS.flatMap((name) => ["--project", name]);
  const outcomes = {
    tests: succeeds(node, [join(ROOT, "node_modules/vitest/vitest.mjs"), "run", ...projects]),
    demo: demoRuns(node),
  };
  for (const [name, ok] of Object.entries(outcomes)) {
    process.stdout.write(`${ok ? "ok    " : "FAILED"} ${name} on Node ${exact}\n`);
    failed += ok ? 0 : 1;
  }
}
process.exitCode = failed === 0 ? 0 : 1;
