import { describe, expect, it } from "vitest";
import type { GateEvent } from "../../../services/core/events.ts";
import type { JournalRecord } from "../../../services/runtime/journal.ts";
import { findWrongReports, listRuns } from "../../faults/lab/executor-runs.ts";

describe("what handlers wrote down", () => {
  it("tells what was begun, how often, and what was cut off", () => {
    expect(listRuns("begin a\nbegin b\nend a\nbegin a\nbegin c\nend c\n")).toEqual({
      begun: ["a", "b", "a", "c"],
      cutOff: new Set(["b"]),
    });
    expect(listRuns("")).toEqual({ begun: [], cutOff: new Set() });
  });
});

/** Of a record each. */
function journalOf(...events: readonly object[]): readonly JournalRecord[] {
  return events.map((event) => ({ events: [event as GateEvent] }) as unknown as JournalRecord);
}

const recorded = (decisionId: string, status: string) => ({
  ...{ type: "result_recorded", decisionId, status },
});

describe("a call that was cut off", () => {
  const listWrongReports = (...events: readonly object[]) =>
    findWrongReports(new Set(["a"]), journalOf(...events));

  it("is rightly told as unknown, by the gate or by the next executor", () => {
    const byGate = { type: "outcome_unknown", decisionId: "a" };
    expect(listWrongReports(recorded("a", "started"), byGate)).toEqual([]);
    expect(listWrongReports(recorded("a", "started"), recorded("a", "unknown"))).toEqual([]);
    expect(listWrongReports(recorded("b", "succeeded"), byGate)).toEqual([]);
  });

  it.each([
    ["open", [recorded("a", "started")]],
    ["succeeded", [recorded("a", "succeeded")]],
    ["not_executed", [recorded("a", "not_executed")]],
    [
      "unknown, succeeded",
      [recorded("a", "unknown"), { type: "reconciled", decisionId: "a", outcome: "succeeded" }],
    ],
  ])("is wrongly told as %s", (status, events) => {
    expect(listWrongReports(...events)).toEqual([
      `a was cut off, and the journal has it as ${status}`,
    ]);
  });
});
