// `npm test`: installs what is missing, runs every check and every test the machine allows, says
// what was skipped and why, and ends with the counts. Arguments after `--` go to vitest as they
// are; then only the tests run, and the minimum counts are not asked for.
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { ensureInstalled, ROOT } from "./ensure-installed.js";
import { formatCounts, summarize } from "./test-summary.js";

/**
 * @typedef {{ name: string, file: string, args?: string[] }} Check
 * @typedef {import("./test-report.js").Report} Report
 */

/** @param {string} path */
const inModules = (path) => join(ROOT, "node_modules", path);
const TSC = inModules("typescript/bin/tsc");

/** Two run side by side, the longest first. @type {Check[]} */
const CHECKS = [
  { name: "build", file: "tasks/build.js" },
  { name: "promises (eslint)", file: inModules("eslint/bin/eslint.js"), args: ["."] },
  { name: "types of tests", file: TSC, args: ["-p", "test"] },
  { name: "types of core", file: TSC, args: ["-p", "services/core"] },
  { name: "unused (knip)", file: inModules("knip/bin/knip.js"), args: ["--no-progress"] },
  { name: "import rules", file: "tasks/arch.js" },
  {
    name: "format and lint (biome)",
    file: inModules("@biomejs/biome/bin/biome"),
    args: ["ci", "--colors=off", "."],
  },
];
const SIDE_BY_SIDE = 2;

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

async function runChecks() {
  const waiting = [...CHECKS];
  const counts = { passed: 0, failed: 0, skipped: 0 };
  const lane = async () => {
    for (let check = waiting.shift(); check !== undefined; check = waiting.shift()) {
      counts[(await runCheck(check)) ? "passed" : "failed"] += 1;
    }
  };
  await Promise.all(Array.from({ length: SIDE_BY_SIDE }, lane));
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

/** @param {readonly string[]} args */
async function runTests(args) {
  const scratch = mkdtempSync(join(tmpdir(), "callgate-test-"));
  const reportPath = join(scratch, "report.json");
  const skipLog = join(scratch, "skips.jsonl");
  const reporters = ["--reporter=default", `--reporter=${join(ROOT, "tasks/test-report.js")}`];
  try {
    const vitest = inModules("vitest/vitest.mjs");
    const child = spawn(process.execPath, [vitest, "run", ...reporters, ...args], {
      cwd: ROOT,
      stdio: ["ignore", "inherit", "inherit"],
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

/** @param {string} line */
function parseSkip(line) {
  const { file, reason } = JSON.parse(line);
  return { file: relative(ROOT, file), reason };
}

ensureInstalled();
const startedAt = Date.now();
const args = process.argv.slice(2);
const everything = args.length === 0;
const checks = everything ? await runChecks() : { passed: 0, failed: 0, skipped: 0 };
const { ok, report, reasons } = await runTests(args);
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
