// `npm test`: installs what is missing, runs every check and every test that the machine allows, prints
// which tests were skipped and why, and ends with the counts. Arguments after `--` go to vitest unchanged;
// then only the tests run, without minimum counts.
import { spawn } from "node:child_process";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { ensureInstalled, ROOT } from "./ensure-installed.js";
import { addCounts, COMPUTING, joinOutcomes, WAITING } from "./test-lanes.js";
import { formatCounts, summarize } from "./test-summary.js";

/**
 * @typedef {{ name: string, file: string, args?: string[] }} Check
 * @typedef {import("./test-report.js").Report} Report
 * @typedef {import("./test-lanes.js").Outcome} Outcome
 */

/** @param {string} path */
const inModules = (path) => join(ROOT, "node_modules", path);
const TSC = inModules("typescript-native/bin/tsc");
/** Several threads check shared types once each, which costs almost twice the processor time in all. */
const ONE_THREAD = ["--singleThreaded"];

/** Runs first, since processes that tests start need the build. @type {Check} */
const BUILD = { name: "build", file: "tasks/build.js" };
/** @type {Check[]} */
const CHECKS = [
  { name: "promises (oxlint)", file: inModules("oxlint/bin/oxlint") },
  { name: "types of tests", file: TSC, args: [...ONE_THREAD, "-p", "test"] },
  { name: "types of core", file: TSC, args: [...ONE_THREAD, "-p", "services/core"] },
  { name: "unused (knip)", file: inModules("knip/bin/knip.js"), args: ["--no-progress"] },
  { name: "import rules", file: "tasks/arch.js" },
  {
    name: "format and lint (biome)",
    file: inModules("@biomejs/biome/bin/biome"),
    args: ["ci", "--colors=off", "."],
  },
];

/** The number of cores of a small machine, since these tests never wait. */
const COMPUTING_WORKERS = 2;

/** @param {string} text */
const print = (text) => process.stdout.write(`${text}\n`);
/** @param {number} startedAt */
const since = (startedAt) => `${((Date.now() - startedAt) / 1000).toFixed(1)} s`;

/**
 * @param {import("node:child_process").ChildProcess} child
 * @returns {Promise<boolean>} whether it ended with exit code 0
 */
function succeeds(child) {
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve(code === 0));
  });
}

/**
 * Runs a Node program. Its output is printed in one piece, and only when it failed.
 * @param {Check} check
 */
async function runCheck({ name, file, args = [] }) {
  const startedAt = Date.now();
  const child = spawn(process.execPath, [file, ...args], { cwd: ROOT, stdio: "pipe" });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (chunk) => {
      output += chunk;
    });
  }
  const ok = await succeeds(child);
  print(`${ok ? "ok    " : "FAILED"} ${name} (${since(startedAt)})`);
  if (!ok) {
    print(output.trimEnd());
  }
  return ok;
}

/** @param {readonly Check[]} checks one after the other, as tests run beside them */
async function runChecks(checks) {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  for (const check of checks) {
    counts[(await runCheck(check)) ? "passed" : "failed"] += 1;
  }
  return counts;
}

/**
 * @param {string} path
 * @returns {string} empty when there is no such file
 */
function readIfThere(path) {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

/**
 * One run of vitest.
 * @param {readonly string[]} args
 * @param {{ output?: "inherit" | number }} [options] `output`: a file that gets what it prints
 * @returns {Promise<Outcome>}
 */
async function runTests(args, { output = "inherit" } = {}) {
  const scratch = mkdtempSync(join(tmpdir(), "callgate-test-"));
  const reportPath = join(scratch, "report.json");
  const skipLog = join(scratch, "skips.jsonl");
  const reporters = ["--reporter=default", `--reporter=${join(ROOT, "tasks/test-report.js")}`];
  try {
    const vitest = inModules("vitest/vitest.mjs");
    const child = spawn(process.execPath, [vitest, "run", ...reporters, ...args], {
      cwd: ROOT,
      stdio: ["ignore", output, output],
      env: { ...process.env, CALLGATE_TEST_REPORT: reportPath, CALLGATE_SKIP_LOG: skipLog },
    });
    const ok = await succeeds(child);
    const text = readIfThere(reportPath);
    /** @type {Report} */
    const report = text === "" ? { projects: {}, skips: [], unhandled: 0 } : JSON.parse(text);
    const reasons = readIfThere(skipLog).split("\n").filter(Boolean).map(parseSkip);
    const skips = report.skips.map((skip) => ({ ...skip, file: relative(ROOT, skip.file) }));
    return { ok: ok && text !== "", report: { ...report, skips }, reasons };
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** @param {readonly string[]} names */
const projects = (names) => names.flatMap((name) => ["--project", name]);

/** Runs checks and the levels that compute. Their output is printed in one piece after the other lane. */
async function compute() {
  const checks = await runChecks(CHECKS);
  const scratch = mkdtempSync(join(tmpdir(), "callgate-test-"));
  const log = join(scratch, "output.txt");
  const file = openSync(log, "w");
  const args = [...projects(COMPUTING), `--maxWorkers=${COMPUTING_WORKERS}`];
  const tests = await runTests(args, { output: file });
  closeSync(file);
  const output = readIfThere(log);
  rmSync(scratch, { recursive: true, force: true });
  return { checks, tests, output };
}

async function runEverything() {
  const built = await runChecks([BUILD]);
  const [waited, computed] = await Promise.all([runTests(projects(WAITING)), compute()]);
  print(computed.output.trimEnd());
  const { checks, tests } = computed;
  return { checks: addCounts(built, checks), outcome: joinOutcomes(waited, tests) };
}

/** @param {string} line */
function parseSkip(line) {
  const { file, reason } = JSON.parse(line);
  return { file: relative(ROOT, file), reason };
}

ensureInstalled();
const startedAt = Date.now();
const args = process.argv.slice(2);
const everything = args.length === 0;
const { checks, outcome } = everything
  ? await runEverything()
  : { checks: { passed: 0, failed: 0, skipped: 0 }, outcome: await runTests(args) };
const { ok, report, reasons } = outcome;
const minimums = everything
  ? JSON.parse(readFileSync(join(ROOT, "test/minimum-counts.json"), "utf8")).tests
  : {};
const { lines, total } = summarize(report, { minimums, reasons, checks, vitestFailed: !ok });
print(`\nchecks: ${formatCounts(checks)}`);
for (const line of lines) {
  print(line);
}
print(`all of it took ${since(startedAt)}`);
print(`tests: ${formatCounts(total)}`);
print(formatCounts(total));
process.exitCode = total.failed === 0 ? 0 : 1;
