/** Claims without an answer: a call that never ran must not end with an unknown outcome. */
import { expect, test, vi } from "vitest";
import { systemClock } from "../../../services/adapters/system/clock.ts";
import {
  appendingBy,
  createLineLogger,
  FencingOwnership,
  openGate,
  startExecutor,
} from "../../support/log-executor-kit.ts";

/**
 * An executor that waits before it takes the partition over again, because it does not know the
 * fate of its first claim.
 */
async function unanswered(outcome: "unknown, done" | "unknown, not done") {
  const gate = await openGate();
  const ownership = new FencingOwnership(gate.embedded.log);
  const runs: string[] = [];
  const { logger, lines } = createLineLogger();
  const pay = (name: string) => ({ pay: () => runs.push(name) });
  let retake: () => void = () => undefined;
  const sleep = (_timeMs: number, signal?: AbortSignal) =>
    new Promise<void>((resolve) => {
      retake = resolve;
      signal?.addEventListener("abort", () => resolve());
    });
  const parts = { ownership, logger, clock: { ...systemClock, sleep } };
  const first = await startExecutor(gate.embedded, pay("first"), parts);
  ownership.outcomes.push(outcome);
  const { decisionId } = await gate.propose("pay", { order: "7" });
  await expect.poll(() => first.status.state).toBe("suspended");
  const startSecond = () => startExecutor(gate.embedded, pay("second"), { ownership });
  return { ...gate, runs, lines, first, startSecond, retake: () => retake(), decisionId };
}

test("a call that another executor took for begun, by an unanswered claim of ours, is reported as not executed", async () => {
  const { retake, startSecond, readStatuses, decisionId, runs, propose } =
    await unanswered("unknown, done");
  await startSecond();
  await expect.poll(() => readStatuses(decisionId)).toEqual(["started", "unknown"]);
  retake();
  await expect.poll(() => readStatuses(decisionId)).toEqual(["started", "unknown", "not_executed"]);
  expect(runs).toEqual([]);
  const again = await propose("pay", { order: "7" });
  expect(again.outcome).toBe("allowed");
});

test("closing checks once whether an unanswered claim is in the log, and reports the call as not executed", async () => {
  const { first, startSecond, readStatuses, decisionId, runs, lines, propose } =
    await unanswered("unknown, done");
  await first.close(5_000);
  expect(await readStatuses(decisionId)).toEqual(["started", "not_executed"]);
  await startSecond();
  const again = await propose("pay", { order: "7" });
  expect(again.outcome).toBe("allowed");
  await expect.poll(() => runs).toEqual(["second"]);
  expect(await readStatuses(decisionId)).toEqual(["started", "not_executed"]);
  expect(lines.filter(([level]) => level === "warn")).toEqual([]);
});

test("closing logs a call whose unanswered claim is not found, and leaves it to the next executor", async () => {
  const { first, startSecond, readStatuses, decisionId, runs, lines } =
    await unanswered("unknown, not done");
  await first.close(5_000);
  expect(await readStatuses(decisionId)).toEqual([]);
  const warnings = lines.filter(([level]) => level === "warn");
  expect(warnings).toHaveLength(1);
  const names = { decisionId, callId: "call-1", conversationId: "c1", tool: "pay", partition: 0 };
  expect(warnings[0]?.[2]).toMatchObject({ ...names, status: "not_executed" });
  await startSecond();
  await expect.poll(() => readStatuses(decisionId)).toEqual(["started", "succeeded"]);
  expect(runs).toEqual(["second"]);
});

test("closing does not report a call that another executor has begun meanwhile", async () => {
  const { first, startSecond, readStatuses, decisionId, lines } =
    await unanswered("unknown, not done");
  await startSecond();
  await expect.poll(() => readStatuses(decisionId)).toEqual(["started", "succeeded"]);
  await first.close(5_000);
  expect(await readStatuses(decisionId)).toEqual(["started", "succeeded"]);
  expect(lines.filter(([level]) => level === "warn")).toEqual([]);
});

test("a call that ends before its record is read again is not reported as unknown", async () => {
  const { retake, readStatuses, decisionId, embedded } = await unanswered("unknown, done");
  // The first records of the next run come late.
  const { read } = embedded.log;
  let ended: () => void = () => undefined;
  const late = new Promise<void>((resolve) => {
    ended = () => resolve();
  });
  vi.spyOn(embedded.log, "read").mockImplementation(async (topic, ...rest) => {
    if (topic === "allowed" && rest[2].recordsMax > 1) await late;
    return read.call(embedded.log, topic, ...rest);
  });
  retake();
  await expect.poll(() => readStatuses(decisionId)).toContain("succeeded");
  ended();
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(await readStatuses(decisionId)).not.toContain("unknown");
});

test("a claim without any answer does not hold up closing", async () => {
  const { embedded, propose } = await openGate();
  const { logger, lines } = createLineLogger();
  let asked = 0;
  const log = appendingBy(embedded.log, () => {
    asked += 1;
    return new Promise(() => undefined);
  });
  const executor = await startExecutor(embedded, { pay: () => "paid" }, { log, logger });
  const { decisionId } = await propose("pay", { order: "7" });
  await expect.poll(() => asked).toBe(1);
  const closed = executor.close(50).then(() => "closed");
  expect(await Promise.race([closed, after(5_000)])).toBe("closed");
  expect(lines.at(-1)).toMatchObject(["warn", {}, { decisionId, status: "not_executed" }]);
});

function after(timeMs: number): Promise<string> {
  return new Promise((resolve) => setTimeout(() => resolve("late"), timeMs));
}
