// `npm test` runs vitest twice, side by side. One vitest runs level after level, so the CPU would be idle
// while tests of processes and brokers wait.

/**
 * @typedef {import("./test-report.js").Counts} Counts
 * @typedef {import("./test-report.js").Report} Report
 * @typedef {{ ok: boolean, report: Report, reasons: { file: string, reason: string }[] }} Outcome
 */

/** Levels that wait most of their time. */
export const WAITING = ["integration", "e2e", "conformance"];

/** Levels that compute. */
export const COMPUTING = ["simulation", "property", "unit", "golden"];

/**
 * @param {Counts} first
 * @param {Counts} second
 * @returns {Counts}
 */
export function addCounts(first, second) {
  return {
    passed: first.passed + second.passed,
    failed: first.failed + second.failed,
    skipped: first.skipped + second.skipped,
  };
}

/**
 * Joins the reports of two runs that have no level in common.
 * @param {Outcome} first
 * @param {Outcome} second
 * @returns {Outcome}
 */
export function joinOutcomes(first, second) {
  return {
    ok: first.ok && second.ok,
    report: {
      projects: { ...first.report.projects, ...second.report.projects },
      skips: [...first.report.skips, ...second.report.skips],
      unhandled: first.report.unhandled + second.report.unhandled,
    },
    reasons: [...first.reasons, ...second.reasons],
  };
}
