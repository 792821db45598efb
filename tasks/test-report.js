// Vitest reporter: writes counts and skips for the test command, as JSON, to CALLGATE_TEST_REPORT.
import { writeFileSync } from "node:fs";

/**
 * @typedef {import("vitest/node").Reporter} Reporter
 * @typedef {{ passed: number, failed: number, skipped: number }} Counts
 * @typedef {{ file: string, test: string, note: string }} Skip
 * @typedef {{ projects: Record<string, Counts>, skips: Skip[], unhandled: number }} Report
 */

/** @implements {Reporter} */
export default class TestReport {
  /**
   * @param {readonly import("vitest/node").TestModule[]} modules
   * @param {readonly unknown[]} unhandledErrors
   */
  onTestRunEnd(modules, unhandledErrors) {
    const path = process.env["CALLGATE_TEST_REPORT"];
    if (path === undefined) {
      return;
    }
    /** @type {Report} */
    const report = { projects: {}, skips: [], unhandled: unhandledErrors.length };
    for (const module of modules) {
      addModule(report, module);
    }
    writeFileSync(path, JSON.stringify(report));
  }
}

/**
 * @param {Report} report
 * @param {import("vitest/node").TestModule} module
 */
function addModule(report, module) {
  report.projects[module.project.name] ??= { passed: 0, failed: 0, skipped: 0 };
  const counts = /** @type {Counts} */ (report.projects[module.project.name]);
  // A file that cannot be loaded has no failed tests, so it counts as one.
  counts.failed += module.errors().length;
  for (const test of module.children.allTests()) {
    const result = test.result();
    if (result.state === "passed" || result.state === "failed") {
      counts[result.state] += 1;
      continue;
    }
    counts.skipped += 1;
    const note = result.state === "skipped" ? (result.note ?? "") : "did not finish";
    report.skips.push({ file: module.moduleId, test: test.fullName, note });
  }
}
