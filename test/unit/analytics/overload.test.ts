import { expect, test } from "vitest";
import { ANALYTICS_OPTIONS } from "../../../services/analytics/analytics.ts";
import { DecisionFold } from "../../../services/analytics/fold.ts";
import { decisionRow as row } from "../../support/decision-row.ts";

const { fold: options } = ANALYTICS_OPTIONS;
const MINUTE = 60_000;

const refused = (at_ms: number, conversation_id: string) =>
  row({ kind: "refused", reason: "overloaded", at_ms, conversation_id, fresh: true });

test("raises one alert for as long as new conversations are refused", () => {
  const fold = new DecisionFold(options);
  const raised = fold.apply(0, [refused(MINUTE, "a"), refused(5 * MINUTE, "b")], 2);
  expect(raised).toMatchObject([
    {
      partition: 0,
      alert: {
        alertId: `overloaded:0:${MINUTE}`,
        ...{ kind: "overloaded", severity: "warning", reason: "overloaded" },
        ...{ conversationId: "a", resolvedAtMs: null },
      },
    },
  ]);
  expect(fold.apply(0, [row({ at_ms: 14 * MINUTE })], 3)).toEqual([]);
  const ended = fold.apply(0, [row({ at_ms: 16 * MINUTE })], 4);
  expect(ended).toMatchObject([
    {
      alert: {
        alertId: `overloaded:0:${MINUTE}`,
        ...{ severity: "info", count: 2, resolvedAtMs: 15 * MINUTE },
      },
    },
  ]);
  expect(fold.apply(0, [refused(17 * MINUTE, "c")], 5)).toMatchObject([
    { alert: { alertId: `overloaded:0:${17 * MINUTE}` } },
  ]);
});

test("ends the alert where nothing more comes, also after a restart", () => {
  const fold = new DecisionFold(options);
  fold.apply(0, [refused(MINUTE, "a")], 1);
  const restarted = new DecisionFold(options, structuredClone(fold.data()));
  expect(restarted.rest(0, MINUTE + options.idleMs)).toBeNull();
  expect(restarted.rest(0, 11 * MINUTE + options.idleMs)).toMatchObject([
    { alert: { severity: "info", count: 1, resolvedAtMs: 11 * MINUTE } },
  ]);
  expect(restarted.data().partitions[0]).not.toHaveProperty("overload");
});

test("counts a refused call for no conversation, since there is none", () => {
  const fold = new DecisionFold(options);
  fold.apply(0, [refused(1, "a"), refused(2, "b")], 2);
  expect(fold.openConversations).toBe(0);
  const samples = fold.data().totals.analytics_decisions_total ?? [];
  expect(samples.map(({ labels, value }) => [labels["reason"], value])).toEqual([
    ["overloaded", 2],
  ]);
});
