import { describe, expect, it } from "vitest";
import { ANALYTICS_OPTIONS } from "../../../services/analytics/analytics.ts";
import type { DecisionRow } from "../../../services/analytics/decision-row.ts";
import { DecisionFold, type FoldData } from "../../../services/analytics/fold.ts";
import { decisionRow } from "../../support/decision-row.ts";

const spikes = {
  ...{ conversationsMax: 200, conversationsMin: 3, deviations: 6 },
  floor: { calls: 4, spend: 1, duration: 1e12 },
};
const options = { ...ANALYTICS_OPTIONS.fold, spikes };

/** A fold that has seen conversations of one call each: 5 calls are a spike, 13 a critical one. */
function learned(): DecisionFold {
  const fold = new DecisionFold(options);
  const usual = ["a", "b", "c"].map((conversation_id) => decisionRow({ conversation_id }));
  fold.apply(0, usual, 3);
  const later = decisionRow({ conversation_id: "d", at_ms: options.idleMs + 1_000 });
  fold.apply(0, [later], 4);
  return fold;
}

function calls(count: number, from = 0): readonly DecisionRow[] {
  return Array.from({ length: count }, (_, index) =>
    decisionRow({ conversation_id: "runaway", at_ms: options.idleMs + 2_000 + from + index }),
  );
}

function restarted(fold: DecisionFold): DecisionFold {
  return new DecisionFold(options, JSON.parse(JSON.stringify(fold.data())) as FoldData);
}

describe("alerts about a conversation that spikes", () => {
  it("warn when the threshold is crossed, and become critical at three times of it, each once", () => {
    const raised = learned().apply(0, calls(60), 64);

    expect(raised.map(({ alert }) => [alert.severity, alert.value])).toEqual([
      ["warning", 5],
      ["critical", 13],
    ]);
    const [first, second] = raised.map(({ alert }) => alert.alertId);
    expect(second).toBe(`${first}:critical`);
  });

  it("are counted by severity", () => {
    const fold = learned();

    fold.apply(0, calls(60), 64);

    const counted = fold
      .data()
      .totals.alerts_total?.map(({ labels, value }) => [labels["severity"], value]);
    expect(counted).toEqual([
      ["warning", 1],
      ["critical", 1],
    ]);
  });

  it("are a single one where the first value is three times the threshold", () => {
    const fold = learned();
    const cost = {
      kind: "result",
      decision_id: "1",
      currency: "EUR",
      status: "succeeded",
    } as const;
    for (const [index, conversation_id] of ["e", "f", "g"].entries()) {
      const at_ms = options.idleMs + 3_000 + index;
      fold.apply(0, [decisionRow({ conversation_id, at_ms, ...cost, cost_micro_units: 1_000 })], 5);
    }
    const at_ms = 3 * options.idleMs;
    const dear = { conversation_id: "i", at_ms, ...cost, cost_micro_units: 9_000_000 };
    fold.apply(0, [decisionRow({ conversation_id: "h", at_ms })], 8);

    const raised = fold.apply(0, [decisionRow(dear), decisionRow(dear)], 10);

    expect(raised.map(({ alert }) => [alert.kind, alert.severity])).toEqual([
      ["spend_spike", "critical"],
    ]);
  });

  it("include no warning after a critical alert, even if the spend fell", () => {
    const fold = learned();
    const cost = (conversation_id: string, at_ms: number, units: number, status: string) =>
      decisionRow({
        ...{ kind: "result", decision_id: "1", conversation_id, at_ms, status },
        ...{ currency: "EUR", cost_micro_units: units * 1_000_000 },
      });
    for (const [index, name] of ["e", "f", "g"].entries()) {
      fold.apply(0, [cost(name, options.idleMs + 3_000 + index, 0.001, "succeeded")], 5);
    }
    const at_ms = 3 * options.idleMs;
    fold.apply(0, [decisionRow({ conversation_id: "h", at_ms })], 8);

    const raised = fold.apply(
      0,
      [cost("i", at_ms, 9, "unknown"), cost("i", at_ms, 2, "failed")],
      10,
    );

    expect(raised.map(({ alert }) => alert.severity)).toEqual(["critical"]);
  });

  it("are raised once over a restart, and all resolved when the conversation ends", () => {
    const fold = learned();
    const first = fold.apply(0, calls(8), 12);
    const second = restarted(fold).apply(0, calls(2, 8), 14);
    const third = restarted(fold).apply(0, calls(20, 8), 32);

    expect([first.length, second.length, third.length]).toEqual([1, 0, 1]);

    const whole = learned();
    const raised = whole.apply(0, calls(28), 32);
    const resolved = restarted(whole).apply(0, [decisionRow({ at_ms: 9 * options.idleMs })], 33);
    expect(resolved.map(({ alert }) => alert.alertId)).toEqual(
      raised.map(({ alert }) => alert.alertId),
    );
    expect(resolved.every(({ alert }) => alert.resolvedAtMs !== null)).toBe(true);
  });

  it("of an earlier version count as warnings", () => {
    const fold = learned();
    fold.apply(0, calls(8), 12);
    const data = fold.data();
    const [partition] = data.partitions;
    const conversations = (partition?.conversations ?? []).map((one) => {
      const alerts = one.alerts as readonly { name: string; alertId: string }[];
      return { ...one, alerts: Object.fromEntries(alerts.map((a) => [a.name, a.alertId])) };
    });
    const old = {
      ...data,
      partitions: [{ ...partition, conversations: conversations }],
    } as FoldData;

    const raised = new DecisionFold(options, old).apply(0, calls(20, 8), 32);

    expect(raised.map(({ alert }) => alert.severity)).toEqual(["critical"]);
  });
});
