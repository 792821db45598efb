import { expect, test } from "vitest";
import { systemClock } from "../../../services/adapters/system/clock.ts";
import { takeOver } from "../../../services/executor/take-over.ts";
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
