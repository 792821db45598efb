import { describe, expect, it } from "vitest";
import { ANALYTICS_OPTIONS } from "../../../services/analytics/analytics.ts";
import type { DecisionRow } from "../../../services/analytics/decision-row.ts";
import { DecisionFold, type RaisedAlert } from "../../../services/analytics/fold.ts";
import { decisionRow } from "../../support/decision-row.ts";

const IDLE_MS = 3_000;
const spikes = {
  ...{ conversationsMax: 200, conversationsMin: 3, deviations: 6 },
  floor: { calls: 4, spend: 1, duration: 1e12 },
};
const options = { ...ANALYTICS_OPTIONS.fold, idleMs: IDLE_MS, spikes };

/** Conversations of one call each, then one that spikes, then one that ends it. */
const ROWS: readonly DecisionRow[] = [
  ...Array.from({ length: 5 }, (_, index) =>
    decisionRow({ conversation_id: `c${index}`, at_ms: 1_000 + index }),
  ),
  ...Array.from({ length: 9 }, (_, index) =>
    decisionRow({ conversation_id: "runaway", at_ms: 9_000 + index, step: `${index}` }),
  ),
  decisionRow({ conversation_id: "last", at_ms: 20_000 }),
];

/**
 * Folds the rows in groups of a size; `between` returns the wall clock at which the journal's end
 * was read.
 */
function folded(size: number, between?: (row: DecisionRow) => number) {
  const fold = new DecisionFold(options);
  const alerts: RaisedAlert[] = [];
  for (let from = 0; from < ROWS.length; from += size) {
    const next = ROWS[from] as DecisionRow;
    if (between !== undefined) alerts.push(...(fold.rest(0, between(next)) ?? []));
    alerts.push(...fold.apply(0, ROWS.slice(from, from + size), from + size));
  }
  return { fold, alerts };
}

describe("conversations that end by being idle", () => {
  it("give the same numbers and alerts, however many rows are applied at once", () => {
    const { fold, alerts } = folded(1);
    const data = { ...fold.data(), partitions: [] };

    expect(alerts.map(({ alert }) => alert.severity)).toEqual(["warning", "info"]);
    for (const size of [2, 3, 7, 1_000]) {
      const other = folded(size);
      expect({ ...other.fold.data(), partitions: [] }).toEqual(data);
      expect(other.alerts).toEqual(alerts);
    }
  });

  it("give the same numbers where the wall clock ends them before the next row does", () => {
    const rows = folded(1);
    // A gate may decide a row so late without any change.
    const clock = folded(1, ({ at_ms }) => at_ms + IDLE_MS);

    expect(clock.fold.data()).toEqual(rows.fold.data());
    expect(clock.alerts).toEqual(rows.alerts);
  });

  it("become a new conversation with a later call, even on an idle partition", () => {
    const fold = new DecisionFold(options);

    for (const at_ms of [1_000, 10_000, 10_000 + IDLE_MS - 1, 19_000]) {
      fold.apply(0, [decisionRow({ at_ms })], 1);
    }

    const { totals, partitions } = fold.data();
    const [calls] = totals.conversation_tool_calls ?? [];
    const [duration] = totals.conversation_duration_seconds ?? [];
    expect(calls?.buckets?.slice(0, 2)).toEqual([1, 1]);
    expect(duration?.value).toBe((IDLE_MS - 1) / 1_000);
    expect(partitions[0]?.conversations).toMatchObject([{ firstAtMs: 19_000, calls: 1 }]);
  });

  it("end without another row, and resolve their alerts at that time", () => {
    const fold = new DecisionFold(options);
    fold.apply(0, ROWS.slice(0, -1), 14);
    const atRestMs = 9_008 + IDLE_MS;

    expect(fold.rest(0, atRestMs + IDLE_MS - 1)).toBe(null);
    const resolved = fold.rest(0, 1_000_000) ?? [];

    expect(resolved).toMatchObject([{ alert: { resolvedAtMs: atRestMs, kind: "calls_spike" } }]);
    expect(fold.openConversations).toBe(0);
    expect(fold.rest(0, 2_000_000)).toBe(null);
  });

  it("end at their idle time, or when the gate starts their state afresh before that", () => {
    const resolvedAt = (rows: readonly DecisionRow[]) => {
      const fold = new DecisionFold(options);
      const alerts = rows.flatMap((row, index) => fold.apply(0, [row], index + 1));
      return alerts.flatMap(({ alert }) => alert.resolvedAtMs ?? []);
    };
    const [usual, runaway] = [ROWS.slice(0, 5), ROWS.slice(5, -1)];
    const next = (at_ms: number) => decisionRow({ conversation_id: "runaway", at_ms });
    // This conversation's rows were journaled after a later one, which has not ended yet.
    const ahead = decisionRow({ conversation_id: "ahead", at_ms: 12_000 });

    expect(resolvedAt([...usual, ...runaway, { ...next(9_500), fresh: true }])).toEqual([9_500]);
    expect(resolvedAt([...usual, ahead, ...runaway, next(12_500)])).toEqual([9_008 + IDLE_MS]);
  });

  it("do not begin with an event that is neither a call nor a result", () => {
    const fold = new DecisionFold(options);
    for (const kind of ["unknown", "reconciled", "ruled"] as const) {
      fold.apply(0, [decisionRow({ kind })], 1);
    }

    expect(fold.openConversations).toBe(0);
  });
});
