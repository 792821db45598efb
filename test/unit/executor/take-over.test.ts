import { expect, test } from "vitest";
import { systemClock } from "../../../services/adapters/system/clock.ts";
import { SettledDecisions, takeOver } from "../../../services/executor/take-over.ts";
import { createLineLogger, openGate, startExecutor } from "../../support/log-executor-kit.ts";

const DAY_MS = 86_400_000;

test("a take-over reads back as far as calls may still begin, and to those in hand", async () => {
  const { embedded, propose, readStatuses } = await openGate();
  const beganMs = Date.now();
  await startExecutor(embedded, { pay: () => "paid" });
  const { decisionId = "" } = await propose("pay", { order: "7" });
  await expect.poll(() => readStatuses(decisionId)).toEqual(["started", "succeeded"]);
  const { log, codec } = embedded;
  const take = (laterMs: number, sinceMs: number) => {
    const clock = { ...systemClock, nowMs: () => Date.now() + laterMs };
    const parts = {
      log,
      codec,
      clock,
      logger: createLineLogger().logger,
      partition: 0,
      ownership: null,
    };
    return takeOver(parts, { has: (id) => id === decisionId, sinceMs });
  };
  const soon = await take(DAY_MS / 2, Number.POSITIVE_INFINITY);
  expect(soon.settled.size).toBe(1);
  const late = await take(2 * DAY_MS, Number.POSITIVE_INFINITY);
  expect(late.settled.size).toBe(0);
  const inHand = await take(2 * DAY_MS, beganMs);
  const statuses = inHand.reports.get(decisionId)?.map(({ status }) => status);
  expect(statuses).toEqual(["started", "succeeded"]);
});

const MINUTE = 60_000;

test("remembers a begun call exactly as long as it might begin", () => {
  const settled = new SettledDecisions([], 0);
  for (let at = 0; at < 1_000; at += 1) {
    settled.add(`d${at}`, at * 1_000 + MINUTE);
    settled.forget(at * 1_000);
    expect(settled.recall(`d${at}`, at * 1_000 + MINUTE)).toBe(true);
    if (at >= 60) expect(settled.recall(`d${at - 60}`, at * 1_000)).toBe(true);
    expect(settled.size).toBeLessThanOrEqual(60 + 11);
  }
});

test("keeps the latest of several times", () => {
  const settled = new SettledDecisions([], 0);
  settled.add("d1", MINUTE);
  settled.add("d1", 3 * MINUTE);
  settled.forget(2 * MINUTE);
  expect(settled.recall("d1", 3 * MINUTE)).toBe(true);
  settled.forget(4 * MINUTE);
  expect(settled.recall("d1", 3 * MINUTE)).toBe(false);
  expect(settled.size).toBe(0);
});

test("remembers reported calls until their record says for how long", () => {
  const settled = new SettledDecisions(["d1", "d2", "d3"], 1_000 * MINUTE);
  settled.forget(100 * MINUTE);
  expect(settled.size).toBe(3);
  expect(settled.recall("d1", 200 * MINUTE)).toBe(true);
  expect(settled.recall("d2", MINUTE)).toBe(true);
  settled.forget(101 * MINUTE);
  expect(settled.size).toBe(2);
  expect(settled.recall("d1", 200 * MINUTE)).toBe(true);
  settled.forget(1_001 * MINUTE);
  expect(settled.size).toBe(0);
});
