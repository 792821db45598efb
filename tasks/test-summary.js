// The last lines of `npm test`: counts by level, skipped tests with their reasons, and the verdict.

/**
 * @typedef {import("./test-report.js").Report} Report
 * @typedef {import("./test-report.js").Counts} Counts
 * @typedef {{ file: string, reason: string }} SkipReason
 */

/**
 * Finds levels that ran fewer tests than their minimum, because a pattern matches no file or a file does
 * not load. Skipped tests count, since their reason is printed.
 * @param {Report} report
 * @param {Record<string, number>} minimums tests by level
 * @returns {string[]} one line for each level with too few
 */
function findMissing(report, minimums) {
  return Object.entries(minimums).flatMap(([level, minimum]) => {
    const { passed, failed, skipped } = report.projects[level] ?? NOTHING;
    const count = passed + failed + skipped;
    return count < minimum ? [`FAILED ${level}: ${count} tests, at least ${minimum} expected`] : [];
  });
}

/** @type {Counts} */
const NOTHING = { passed: 0, failed: 0, skipped: 0 };

/**
 * One line for each file with skipped tests.
 * @param {Report} report
 * @param {readonly SkipReason[]} reasons given by files whose data or service is missing
 */
function describeSkips(report, reasons) {
  /** @type {Map<string, { count: number, why: Set<string> }>} */
  const files = new Map();
  for (const { file, note } of report.skips) {
    const entry = files.get(file) ?? { count: 0, why: new Set() };
    entry.count += 1;
    files.set(file, entry);
    if (note !== "") {
      entry.why.add(note);
    }
  }
  for (const { file, reason } of reasons) {
    files.get(file)?.why.add(reason);
  }
  return [...files].map(([file, { count, why }]) => ({ file, count, why: [...why] }));
}

/**
 * @param {Report} report
 * @param {{
 *   minimums: Record<string, number>,
 *   reasons: readonly SkipReason[],
 *   checks: Counts,
 *   vitestFailed: boolean,
 * }} context `checks` are the outcomes of the checks that are no tests: types, format, imports
 * @returns {{ lines: string[], total: Counts }} `total.failed` is 0 exactly when everything passed
 */
export function summarize(report, { minimums, reasons, checks, vitestFailed }) {
  const total = { ...checks };
  const lines = [];
  for (const [level, { passed, failed, skipped }] of Object.entries(report.projects)) {
    lines.push(`${level}: ${passed} passed, ${failed} failed, ${skipped} skipped`);
    total.passed += passed;
    total.failed += failed;
    total.skipped += skipped;
  }
  const problems = findMissing(report, minimums);
  if (report.unhandled > 0) {
    problems.push(`FAILED ${report.unhandled} errors outside of any test`);
  }
  for (const { file, count, why } of describeSkips(report, reasons)) {
    if (why.length === 0) {
      problems.push(`FAILED ${count} tests were skipped without a reason in ${file}`);
    } else {
      lines.push(`skipped ${count} in ${file}: ${why.join("; ")}`);
    }
  }
  const testsFailed = total.failed > checks.failed || problems.length > 0;
  if (vitestFailed && !testsFailed) {
    problems.push("FAILED vitest ended with an error of its own: see above");
  }
  total.failed += problems.length;
  return { lines: [...lines, ...problems], total };
}

/** @param {Counts} counts */
export function formatCounts({ passed, failed, skipped }) {
  return `${passed} passed, ${failed} failed, ${skipped} skipped`;
}
