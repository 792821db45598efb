import { describe, expect, it } from "vitest";
import { ANALYTICS_OPTIONS } from "../../../services/analytics/analytics.ts";
import type { DecisionRow } from "../../../services/analytics/decision-row.ts";
import { DecisionFold, type FoldData } from "../../../services/analytics/fold.ts";
import { decisionRow } from "../../support/decision-row.ts";

const { fold: options } = ANALYTICS_OPTIONS;

function result(
  decision_id: string,
  status: string,
  units: number | null,
  currency = "GBP",
): DecisionRow {
  const cost = units === null ? {} : { cost_micro_units: units * 1_000_000, currency };
  return decisionRow({ kind: "result", tool: "pay", decision_id, status, ...cost });
}

function reconciled(decision_id: string, detail: string): DecisionRow {
  return decisionRow({ kind: "reconciled", tool: "pay", decision_id, detail });
}

/** The spend in GBP according to the metric, and according to the conversation. */
function spentAfter(rows: readonly DecisionRow[], overrides: Partial<typeof options> = {}) {
  const fold = new DecisionFold({ ...options, ...overrides });
  fold.apply(0, rows, rows.length);
  return spentOf(fold);
}

function spentOf(fold: DecisionFold): readonly number[] {
  const { totals, partitions } = fold.data();
  const samples = totals.spend_total ?? [];
  const counted = samples.find(({ labels }) => labels["currency"] === "GBP")?.value ?? 0;
  return [counted, (partitions[0]?.conversations[0]?.spend["GBP"] ?? 0) / 1_000_000];
}

describe("spend", () => {
  it("replaces the cost that was reported with an unknown outcome by a later one", () => {
    expect(spentAfter([result("a", "unknown", 3), result("a", "succeeded", 3)])).toEqual([3, 3]);
    expect(spentAfter([result("a", "unknown", 3), result("a", "succeeded", 5)])).toEqual([5, 5]);
    expect(spentAfter([result("a", "unknown", 3), result("a", "failed", null)])).toEqual([3, 3]);
    expect(spentAfter([result("a", "unknown", 3), reconciled("a", "succeeded")])).toEqual([3, 3]);
    expect(spentAfter([result("a", "unknown", 3), result("b", "succeeded", 3)])).toEqual([6, 6]);
  });

  it("drops a cost that nothing can replace any more", () => {
    const unknown = result("a", "unknown", 3);
    for (const settled of [
      result("a", "succeeded", 5),
      result("a", "failed", null),
      reconciled("a", "succeeded"),
    ]) {
      const fold = new DecisionFold(options);
      fold.apply(0, [unknown], 1);
      expect(fold.data().partitions[0]?.costs).toHaveLength(1);
      fold.apply(0, [settled], 2);
      expect(fold.data().partitions[0]?.costs).toEqual([]);
    }
  });

  it("counts no cost of a call that was not executed, or has only started", () => {
    expect(spentAfter([result("a", "not_executed", 7)])).toEqual([0, 0]);
    expect(spentAfter([result("a", "started", 7), result("a", "succeeded", 2)])).toEqual([2, 2]);
  });

  it("does not rise in the metric after a cost is subtracted until as much was spent again", () => {
    const lower = [result("a", "unknown", 10), result("a", "succeeded", 4)];
    expect(spentAfter(lower)).toEqual([10, 4]);
    expect(spentAfter([...lower, result("b", "succeeded", 5)])).toEqual([10, 9]);
    expect(spentAfter([...lower, result("b", "succeeded", 8)])).toEqual([12, 12]);
    const undone = [result("a", "unknown", 10), result("a", "not_executed", null)];
    expect(spentAfter(undone)).toEqual([10, 0]);
    const settled = [result("a", "unknown", 10), reconciled("a", "not_executed")];
    expect(spentAfter([...settled, result("b", "succeeded", 11)])).toEqual([11, 11]);
  });

  it("moves from one currency to another with the cost", () => {
    const rows = [result("a", "unknown", 3, "SEK"), result("a", "succeeded", 2)];
    const fold = new DecisionFold(options);

    fold.apply(0, rows, 2);

    expect(spentOf(fold)).toEqual([2, 2]);
    expect(fold.data().partitions[0]?.conversations[0]?.spend["SEK"]).toBe(0);
  });

  it("counts a cost of zero, and does not subtract the cost of an earlier conversation", () => {
    const fold = new DecisionFold(options);
    const spendNow = () => fold.data().partitions[0]?.conversations[0]?.spend;

    fold.apply(0, [result("a", "succeeded", 0)], 1);
    expect(spendNow()).toEqual({ GBP: 0 });
    fold.apply(0, [result("b", "unknown", 5)], 2);
    fold.apply(0, [{ ...result("b", "succeeded", 1), at_ms: 9 * options.idleMs }], 3);

    expect(spendNow()).toEqual({});
    expect(fold.data().totals.spend_total?.[0]?.value).toBe(5);
  });

  it("is the same over a restart", () => {
    const rows = [
      ...[result("a", "unknown", 10), result("a", "succeeded", 4)],
      ...[result("b", "unknown", 2), result("b", "succeeded", 9)],
    ];
    let fold = new DecisionFold(options);

    for (const [index, row] of rows.entries()) {
      fold.apply(0, [row], index + 1);
      fold = new DecisionFold(options, JSON.parse(JSON.stringify(fold.data())) as FoldData);
    }

    expect(spentOf(fold)).toEqual([13, 13]);
  });

  it("drops the oldest replaceable costs beyond the limit", () => {
    const rows = [result("a", "unknown", 1), result("b", "unknown", 1), result("b", "failed", 1)];

    expect(spentAfter([...rows, result("a", "failed", 1)], { openCostsMax: 1 })).toEqual([3, 3]);
  });
});
