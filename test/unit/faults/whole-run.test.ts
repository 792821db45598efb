import { describe, expect, it } from "vitest";
import type { RowResult } from "../../faults/lab/run-row.ts";
import { table } from "../../faults/table.ts";
import { problemsOfRun } from "../../faults/whole-run.ts";

const ROW: RowResult = {
  ...{ name: "fake", calls: 50, between: 20, faults: 3, inTransaction: 0, lost: 0, doubled: 0 },
  ...{ worstGapMs: 1_234, seconds: 9, overran: false, problems: [] },
};

describe("the run as a whole", () => {
  it("is void when no fault struck inside a transaction", () => {
    const problem = "void: no fault of any row struck inside a transaction";
    expect(problemsOfRun([ROW, ROW], { isPicked: false })).toEqual([problem]);
    expect(problemsOfRun([], { isPicked: false })).toEqual([problem]);
  });

  it("is valid when one did, or when its rows were picked", () => {
    expect(problemsOfRun([ROW, { ...ROW, inTransaction: 1 }], { isPicked: false })).toEqual([]);
    expect(problemsOfRun([ROW], { isPicked: true })).toEqual([]);
  });
});

describe("the table", () => {
  it("shows a time to the next decision if one was measured", () => {
    expect(table([ROW])).toContain("1.2 s");
    const untimed = table([{ ...ROW, worstGapMs: null }]);
    expect(untimed).toContain("–");
    expect(untimed).not.toContain("0.0 s");
  });
});
