import { describe, expect, it } from "vitest";
import type { GateEvent } from "../../../services/core/events.ts";
import type { JournalRecord } from "../../../services/runtime/journal.ts";
import { findWrongReports, listRuns } from "../../faults/lab/executor-runs.ts";

describe("the notes of handlers", () => {
  it("list the calls that began, how often, and those that were cut off", () => {
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

describe("the check of a call that was cut off", () => {
  const listWrongReports = (...events: readonly object[]) =>
    findWrongReports(new Set(["a"]), journalOf(...events));

  it("accepts `unknown` from the gate or from the next executor", () => {
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
  ])("rejects a call that is reported as %s", (status, events) => {
    expect(listWrongReports(...events)).toEqual([
      `a was cut off, and the journal has it as ${status}`,
    ]);
  });
});
