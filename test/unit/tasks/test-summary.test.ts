import { describe, expect, test } from "vitest";
import { formatCounts, summarize } from "../../../tasks/test-summary.js";

const unit = { passed: 3, failed: 0, skipped: 0 };
const checks = { passed: 7, failed: 0, skipped: 0 };
const context = { minimums: {}, reasons: [], checks, vitestFailed: false };
const report = { projects: { unit }, skips: [], unhandled: 0 };

describe("the summary of a test run", () => {
  test("adds the checks to the tests", () => {
    const { lines, total } = summarize(report, context);
    expect(lines).toEqual(["unit: 3 passed, 0 failed, 0 skipped"]);
    expect(formatCounts(total)).toBe("10 passed, 0 failed, 0 skipped");
  });

  test("fails for a level that ran too few tests or none", () => {
    const minimums = { unit: 3, golden: 1 };
    const { lines, total } = summarize(report, { ...context, minimums });
    expect(lines).toContain("FAILED golden: 0 tests, at least 1 expected");
    expect(total.failed).toBe(1);
  });

  test("counts skipped tests towards the minimum", () => {
    const skipped = {
      projects: { unit: { passed: 0, failed: 0, skipped: 3 } },
      skips: [],
      unhandled: 0,
    };
    expect(summarize(skipped, { ...context, minimums: { unit: 3 } }).total.failed).toBe(0);
  });

  test("prints each reason of a file once", () => {
    const skips = [
      { file: "test/a.test.ts", test: "x", note: "" },
      { file: "test/a.test.ts", test: "y", note: "no terminal" },
    ];
    const reasons = [
      { file: "test/a.test.ts", reason: "no data" },
      { file: "test/a.test.ts", reason: "no data" },
      { file: "test/b.test.ts", reason: "nothing was skipped here" },
    ];
    const { lines, total } = summarize({ ...report, skips }, { ...context, reasons });
    expect(lines.slice(1)).toEqual(["skipped 2 in test/a.test.ts: no terminal; no data"]);
    expect(total.failed).toBe(0);
  });

  test("fails for a skip without a reason", () => {
    const skips = [{ file: "test/a.test.ts", test: "x", note: "" }];
    const { lines, total } = summarize({ ...report, skips }, context);
    expect(lines[1]).toBe("FAILED 1 tests were skipped without a reason in test/a.test.ts");
    expect(total.failed).toBe(1);
  });

  test("fails on errors outside tests", () => {
    expect(summarize({ ...report, unhandled: 2 }, context).total.failed).toBe(1);
  });

  test("fails when vitest fails and no test says why, but not twice for one failure", () => {
    const broken = { ...context, vitestFailed: true };
    expect(summarize(report, broken).total.failed).toBe(1);
    const failing = { ...report, projects: { unit: { passed: 2, failed: 1, skipped: 0 } } };
    expect(summarize(failing, broken).total.failed).toBe(1);
  });

  test("reports a failed check", () => {
    const failed = { ...context, checks: { passed: 6, failed: 1, skipped: 0 } };
    expect(formatCounts(summarize(report, failed).total)).toBe("9 passed, 1 failed, 0 skipped");
  });
});
