import { expect, test } from "vitest";
import { addCounts, COMPUTING, joinOutcomes, WAITING } from "../../../tasks/test-lanes.js";
import config from "../../../vitest.config.ts";
import minimumCounts from "../../minimum-counts.json" with { type: "json" };

test("each level runs in one lane, once, and has a minimum", () => {
  const levels = (config.test?.projects ?? []).map((project) => {
    return (project as { test: { name: string } }).test.name;
  });
  expect(levels.length).toBeGreaterThan(5);
  expect([...WAITING, ...COMPUTING].sort()).toEqual(levels.sort());
  expect(Object.keys(minimumCounts.tests).sort()).toEqual(levels.sort());
});

test("a failure in one of two lanes fails the run", () => {
  const counts = { passed: 2, failed: 1, skipped: 1 };
  const reason = { file: "test/a.test.ts", reason: "no data" };
  const skip = { file: "test/a.test.ts", test: "x", note: "" };
  const first = { projects: { unit: counts }, skips: [skip], unhandled: 1 };
  const second = { projects: { e2e: counts }, skips: [], unhandled: 2 };
  const joined = joinOutcomes(
    { ok: true, report: first, reasons: [] },
    { ok: false, report: second, reasons: [reason] },
  );
  expect(joined).toEqual({
    ok: false,
    report: { projects: { unit: counts, e2e: counts }, skips: [skip], unhandled: 3 },
    reasons: [reason],
  });
  expect(addCounts(counts, counts)).toEqual({ passed: 4, failed: 2, skipped: 2 });
});
