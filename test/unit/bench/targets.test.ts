import { describe, expect, it } from "vitest";
import { type BenchRow, median, medianRow, percentile } from "../../bench/bench-row.ts";
import { figure } from "../../bench/table.ts";
import { judge, type Target, verdict } from "../../bench/targets.ts";

const row = (name: string, p50: number, p99?: number): BenchRow =>
  p99 === undefined ? { name, unit: "µs", p50 } : { name, unit: "µs", p50, p99 };

describe("figures", () => {
  it("take a percentile of sorted samples, never beyond the last", () => {
    const samples = Float64Array.from({ length: 101 }, (_, at) => at);
    expect(percentile(samples, 0.5)).toBe(50);
    expect(percentile(samples, 0.99)).toBe(99);
    expect(percentile(samples, 1)).toBe(100);
    expect(percentile([], 0.5)).toBeNaN();
  });

  it("take the median of rounds in any order, for each figure separately", () => {
    expect(median([9, 1, 5])).toBe(5);
    expect(medianRow([row("a", 3, 10), row("a", 1, 30), row("a", 2, 20)])).toEqual(row("a", 2, 20));
    expect(medianRow([row("a", 4)])).toEqual(row("a", 4));
  });

  it("print large numbers whole, small ones with three digits, absent ones as a dash", () => {
    expect([20_417.6, 9.2571, 0.049, undefined].map(figure)).toEqual([
      "20,418",
      "9.26",
      "0.049",
      "-",
    ]);
  });
});

describe("targets", () => {
  const rows = [row("ours", 8, 45), row("theirs", 4, 10)];

  it.each<[Target, number | null, boolean]>([
    [{ row: "ours", figure: "p50", atMost: 8 }, 8, true],
    [{ row: "ours", figure: "p99", atMost: 40 }, 45, false],
    [{ row: "ours", per: "theirs", figure: "p50", atMost: 2 }, 2, true],
    [{ row: "theirs", per: "ours", figure: "p50", atLeast: 0.6 }, 0.5, false],
    [{ row: "gone", figure: "p50", atMost: 8 }, null, false],
    [{ row: "ours", per: "gone", figure: "p50", atMost: 8 }, null, false],
  ])("%o", (target, value, isReached) => {
    expect(judge([target], rows)).toEqual([{ target, value, isReached: isReached }]);
  });

  const hit = judge([{ row: "ours", figure: "p50", atMost: 8 }], rows);
  const missed = judge([{ row: "ours", figure: "p50", atMost: 7 }], rows);
  const absent = judge([{ row: "gone", figure: "p50", atMost: 7 }], rows);
  const fine = { failures: [], missing: [], check: false };

  it("count the targets that were reached", () => {
    const judged = [...hit, ...missed];
    expect(verdict({ ...fine, judged })).toEqual({
      line: "bench: 1 of 2 targets met",
      exitCode: 0,
    });
  });

  it("fail on a missed target only on request", () => {
    expect(verdict({ ...fine, judged: missed, check: true }).exitCode).toBe(1);
    expect(verdict({ ...fine, judged: hit, check: true }).exitCode).toBe(0);
  });

  it("end with 3 when a part is missing or a target could not be measured", () => {
    expect(verdict({ ...fine, judged: hit, missing: ["peers"] })).toEqual({
      line: "bench: 1 of 1 targets met, 1 parts missing",
      exitCode: 3,
    });
    expect(verdict({ ...fine, judged: absent })).toEqual({
      line: "bench: 0 of 1 targets met, 1 not measured",
      exitCode: 3,
    });
  });

  it("end with 1 when a check failed, whatever else is missing", () => {
    const outcome = { ...fine, judged: absent, missing: ["peers"], failures: ["wrong answer"] };
    expect(verdict(outcome).exitCode).toBe(1);
  });
});
