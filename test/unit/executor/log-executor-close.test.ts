/** Closing ends within its time, loses nothing that can be written, and logs what could not. */
import { expect, test } from "vitest";
import { systemClock } from "../../../services/adapters/system/clock.ts";
import { LogExecutor } from "../../../services/executor/log-executor.ts";
import type { Embedded } from "../../../services/library/open-embedded.ts";
import { RetryableError } from "../../../services/runtime/errors.ts";
import type { Log, OutgoingRecord, Ownership } from "../../../services/runtime/ports.ts";
import { quietLogger } from "../../../services/runtime/quiet-logger.ts";
import {
  appendingBy,
  createLineLogger,
  openGate,
  startExecutor,
} from "../../support/log-executor-kit.ts";

const SECRET = "receipt 4711";

function within<T>(timeMs: number, action: Promise<T>): Promise<T | "late"> {
  const late = new Promise<"late">((resolve) => setTimeout(() => resolve("late"), timeMs));
  return Promise.race([action, late]);
}

/** An executor that runs a call, and whose log then rejects results. */
async function running(failing: (log: Log) => Log["append"]) {
  const { embedded, propose, readStatuses } = await openGate();
  const { logger, lines } = createLineLogger();
  let isDown = false;
  let end: (() => void) | undefined;
  const append = failing(embedded.log);
  const log = appendingBy(embedded.log, (records: readonly OutgoingRecord[]) =>
    isDown ? append(records) : embedded.log.append(records),
  );
  const pay = () =>
    new Promise((resolve) => {
      end = () => resolve(SECRET);
    });
  const executor = await startExecutor(embedded, { pay }, { log, logger });
  const { decisionId } = await propose("pay", { order: SECRET });
  await expect.poll(() => end).toBeDefined();
  const goDown = (): void => {
    isDown = true;
  };
  const goUp = (): void => {
    isDown = false;
  };
  return { executor, lines, decisionId, readStatuses, goDown, goUp, end: () => end?.() };
}

const refusing = () => () =>
  Promise.reject(new RetryableError("log_unavailable", "no broker answers at kafka-1:9092"));

test.each([60_000, 2 ** 31 - 1, 2 ** 31, Number.POSITIVE_INFINITY])(
  "within %d ms a result is retried that was rejected at first",
  async (timeoutMs) => {
    const { executor, readStatuses, decisionId, goDown, goUp, end } = await running(refusing);
    const closed = executor.close(timeoutMs);
    goDown();
    setTimeout(goUp, 300);
    end();
    await closed;
    expect(await readStatuses(decisionId)).toEqual(["started", "succeeded"]);
  },
);

test("an outcome that could not be written is logged with its ids and the cause, and without the arguments", async () => {
  const { executor, lines, decisionId, goDown, end } = await running(refusing);
  goDown();
  end();
  await expect.poll(() => lines.some(([level]) => level === "warn")).toBe(true);
  await executor.close(1);
  const names = { partition: 0, tenantId: "default", conversationId: "c1", callId: "call-1" };
  const cause = { code: "log_unavailable", message: "no broker answers at kafka-1:9092" };
  const fields = { ...names, decisionId, tool: "pay", status: "succeeded", ...cause };
  expect(lines.filter(([level]) => level !== "info")).toEqual([
    ["warn", "a result could not be written yet", fields],
    ["error", "the outcome of a call was not written", fields],
  ]);
});

test("a late success that could not be written is logged as one", async () => {
  const { executor, lines, decisionId, goDown, end } = await running(refusing);
  await executor.close(1);
  goDown();
  end();
  await expect.poll(() => lines.filter(([level]) => level === "error")).toHaveLength(1);
  const [, message, fields] = lines.at(-1) ?? [];
  expect(message).toBe("a late result was not written");
  expect(fields).toMatchObject({ decisionId, status: "succeeded", code: "log_unavailable" });
});

test("the text of a foreign error is not logged, because it may contain the tool's output", async () => {
  const broken = () => () => Promise.reject(new TypeError(`cannot write ${SECRET}`));
  const { executor, lines, goDown, end } = await running(broken);
  goDown();
  end();
  await expect.poll(() => lines.some(([level]) => level === "error")).toBe(true);
  await executor.close(1);
  expect(lines.at(-1)).toMatchObject(["error", {}, { status: "succeeded", message: "TypeError" }]);
  expect(JSON.stringify(lines)).not.toContain(SECRET);
});

test("a result without any answer does not hold up closing, and is logged", async () => {
  const { executor, lines, decisionId, goDown, end } = await running(
    () => () => new Promise(() => undefined),
  );
  goDown();
  end();
  expect(await within(8_000, executor.close(50))).not.toBe("late");
  expect(executor.status.state).toBe("closed");
  expect(lines.at(-1)).toMatchObject(["error", {}, { decisionId, status: "succeeded" }]);
});

test("a take-over without an answer does not hold up closing, and begins nothing afterwards", async () => {
  const { embedded, propose, readStatuses } = await openGate();
  let answer: (error: Error) => void = () => undefined;
  let asked = false;
  const takeOver: Ownership["takeOver"] = () =>
    new Promise((_resolve, reject) => {
      asked = true;
      answer = reject;
    });
  const executor = startHanging(embedded, { takeOver });
  const { decisionId } = await propose("pay", { order: "7" });
  await expect.poll(() => asked).toBe(true);
  expect(await within(5_000, executor.close(50))).not.toBe("late");
  expect(executor.status.state).toBe("closed");
  answer(new RetryableError("log_unavailable", "no broker answers"));
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(executor.status.state).toBe("closed");
  expect(await readStatuses(decisionId)).toEqual([]);
});

function startHanging({ log, codec }: Embedded, ownership: Ownership): LogExecutor {
  const parts = { log, codec, clock: systemClock, logger: quietLogger, partition: 0, ownership };
  const executor = new LogExecutor({ ...parts, handlers: { pay: () => "paid" }, parallelCalls: 1 });
  executor.start();
  return executor;
}
