// `npm test`: installs what is missing, runs every check and every test the machine allows, says what
// was skipped and why, and ends with the counts. Options after `--` go to vitest as they are.
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { ensureInstalled, ROOT } from "./ensure-installed.js";

/**
 * @typedef {{ name: string, file: string, args?: string[] }} Check
 * @typedef {import("./test-report.js").Report} Report
 * @typedef {{ name: string, ok: boolean }} Outcome
 */

ensureInstalled();

/** @param {string} path */
const bin = (path) => join(ROOT, "node_modules", path);
const TSC = bin("typescript/bin/tsc");

/** The longest first: two run side by side. @type {Check[]} */
const CHECKS = [
  { name: "build", file: "tasks/build.js" },
  { name: "promises (eslint)", file: bin("eslint/bin/eslint.js"), args: ["."] },
  { name: "types of tests", file: TSC, args: ["-p", "test"] },
  { name: "types of core", file: TSC, args: ["-p", "services/core"] },
  { name: "unused (knip)", file: bin("knip/bin/knip.js"), args: ["--no-progress"] },
  { name: "import rules", file: "tasks/arch.js" },
  {
    name: "format and lint (biome)",
    file: bin("@biomejs/biome/bin/biome"),
    args: ["ci", "--colors=off", "."],
  },
];
const SIDE_BY_SIDE = 2;

/** @param {string} text */
const print = (text) => process.stdout.write(`${text}\n`);
/** @param {number} startedAt */
const seconds = (startedAt) => `${((Date.now() - startedAt) / 1000).toFixed(1)} s`;

/**
 * Runs a Node program; its output is printed in one piece, and only when it failed.
 * @param {Check} check
 * @returns {Promise<Outcome>}
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
  const code = await new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  const ok = code === 0;
  print(`${ok ? "ok    " : "FAILED"} ${name} (${seconds(startedAt)})`);
  if (!ok) {
    print(output.trimEnd());
  }
  return { name, ok };
}

/** @returns {Promise<Outcome[]>} */
async function runChecks() {
  const waiting = [...CHECKS];
  /** @type {Outcome[]} */
  const outcomes = [];
  const lane = async () => {
    for (let check = waiting.shift(); check !== undefined; check = waiting.shift()) {
      outcomes.push(await runCheck(check));
    }
  };
  await Promise.all(Array.from({ length: SIDE_BY_SIDE }, lane));
  return outcomes;
}

/**
 * @param {string} scratch directory for the report and the reasons of skipped tests
 * @returns {Promise<{ ok: boolean, report: Report | undefined }>}
 */
async function runTests(scratch) {
  const reportPath = join(scratch, "report.json");
  const args = [
    bin("vitest/vitest.mjs"),
    "run",
    "--reporter=default",
    `--reporter=${join(ROOT, "tasks", "test-report.js")}`,
    ...process.argv.slice(2),
  ];
  const child = spawn(process.execPath, args, {
    cwd: ROOT,
    stdio: ["ignore", "inherit", "inherit"],
    env: {
      ...process.env,
      CALLGATE_TEST_REPORT: reportPath,
      CALLGATE_SKIP_LOG: join(scratch, "skips.jsonl"),
    },
  });
  const code = await new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  return { ok: code === 0, report: readJson(reportPath) };
}

/** @param {string} path */
function readJson(path) {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch {
    return undefined;
  }
}

/**
 * Each test file with skipped tests, how many, and the reasons given.
 * @param {Report} report
 * @param {string} scratch
 */
function printSkips(report, scratch) {
  /** @type {Map<string, { count: number, reasons: Set<string> }>} */
  const files = new Map();
  /** @param {string} path */
  const entry = (path) => {
    const found = files.get(path) ?? { count: 0, reasons: new Set() };
    files.set(path, found);
    return found;
  };
  for (const { file, note } of report.skips) {
    const found = entry(file);
    found.count += 1;
    if (note !== "") {
      found.reasons.add(note);
    }
  }
  for (const { file, reason } of readSkipLog(scratch)) {
    entry(file).reasons.add(reason);
  }
  for (const [file, { count, reasons }] of files) {
    const why = [...reasons].join("; ") || "no reason given";
    print(`skipped ${count} in ${relative(ROOT, file)}: ${why}`);
  }
}

/**
 * @param {string} scratch
 * @returns {{ file: string, reason: string }[]}
 */
function readSkipLog(scratch) {
  try {
    const text = readFileSync(join(scratch, "skips.jsonl"), "utf8");
    return text
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
  } catch {
    return [];
  }
}

/**
 * A level that ran fewer tests than it is known to have ran next to nothing: a broken pattern, a file
 * that was moved away. Tests that were skipped for a printed reason count.
 * @param {Report} report
 * @returns {number} how many levels have too few
 */
function countMissing(report) {
  const { tests } = JSON.parse(readFileSync(join(ROOT, "test/minimum-counts.json"), "utf8"));
  let missing = 0;
  for (const [project, minimum] of Object.entries(tests)) {
    const counts = report.projects[project] ?? { passed: 0, failed: 0, skipped: 0 };
    const ran = counts.passed + counts.failed + counts.skipped;
    if (ran < minimum) {
      missing += 1;
      print(`FAILED ${project}: ${ran} tests, at least ${minimum} expected`);
    }
  }
  return missing;
}

const startedAt = Date.now();
const scratch = mkdtempSync(join(tmpdir(), "callgate-test-"));
const total = { passed: 0, failed: 0, skipped: 0 };
try {
  for (const { ok } of await runChecks()) {
    total[ok ? "passed" : "failed"] += 1;
  }
  const { ok, report } = await runTests(scratch);
  print("");
  if (report === undefined) {
    print("FAILED vitest ended without a report");
    total.failed += 1;
  } else {
    for (const [project, counts] of Object.entries(report.projects)) {
      print(
        `${project}: ${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`,
      );
      total.passed += counts.passed;
      total.failed += counts.failed;
      total.skipped += counts.skipped;
    }
    const chosen = process.argv.length > 2;
    total.failed += report.unhandled + (chosen ? 0 : countMissing(report));
    // Vitest may fail for a reason of its own, such as a broken configuration.
    total.failed += !ok && total.failed === 0 ? 1 : 0;
    printSkips(report, scratch);
  }
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
const counts = `${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`;
print(`${CHECKS.length} checks and all tests in ${seconds(startedAt)}`);
print(`tests: ${counts}`);
print(counts);
process.exitCode = total.failed === 0 ? 0 : 1;
