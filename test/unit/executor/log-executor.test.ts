import { describe, expect, onTestFinished, test, vi } from "vitest";
import { systemClock } from "../../../services/adapters/system/clock.ts";
import type { Handler } from "../../../services/client/calls/run-call.ts";
import { findOffsetAt } from "../../../services/client/journal/find-offset.ts";
import type { LeftCall } from "../../../services/executor/log-executor.ts";
import { SettledDecisions } from "../../../services/executor/take-over.ts";
import { RetryableError } from "../../../services/runtime/errors.ts";
import {
  appendingBy,
  FencingOwnership,
  openGate,
  startExecutor,
} from "../../support/log-executor-kit.ts";

describe("an executor that follows the log", () => {
  test("runs allowed calls of its tools, and records the start first", async () => {
    const { embedded, propose, readStatuses } = await openGate();
    const received: unknown[] = [];
    await startExecutor(embedded, {
      pay: (args, { idempotencyKey }) => {
        received.push(args, idempotencyKey);
        return "paid";
      },
    });
    const other = await propose("other", {});
    const paid = await propose("pay", { order: "7", key: "the model's" });
    await expect.poll(() => readStatuses(paid.decisionId)).toEqual(["started", "succeeded"]);
    expect(received).toEqual([{ order: "7", key: paid.idempotencyKey }, paid.idempotencyKey]);
    expect(await readStatuses(other.decisionId)).toEqual([]);
    const again = await propose("pay", { order: "7" });
    expect(again.refusal?.previousResult).toMatchObject({ inline: "paid" });
  });

  test("reports calls without a handler here, if they may still begin", async () => {
    const { embedded, propose } = await openGate();
    const left: string[] = [];
    const onLeft = ({ call: { tool } }: LeftCall): void => void left.push(tool);
    await propose("other", {});
    await startExecutor(embedded, { pay: () => "paid" }, { onLeft });
    await propose("other", {}, "c2");
    await expect.poll(() => left).toEqual(["other", "other"]);

    let taken = 0;
    const pending = (): null => {
      taken += 1;
      return null;
    };
    const codec = { ...embedded.codec, pending };
    const clock = { ...systemClock, nowMs: () => systemClock.nowMs() + 3_600_000 };
    await startExecutor(embedded, { pay: () => "paid" }, { onLeft, clock, codec });
    await propose("pay", { order: "7" });
    await expect.poll(() => taken).toBe(3);
    expect(left).toEqual(["other", "other"]);
  });

  test("runs calls that were allowed before it started", async () => {
    const { embedded, propose, readStatuses } = await openGate();
    const early = await propose("pay", { order: "7" });
    await startExecutor(embedded, { pay: () => "paid" });
    await expect.poll(() => readStatuses(early.decisionId)).toEqual(["started", "succeeded"]);
  });

  test("runs nothing that another executor had started, and reports an unknown outcome", async () => {
    const { embedded, propose, readStatuses } = await openGate();
    const begun = await propose("pay", { order: "7" });
    let runs = 0;
    const first = await startExecutor(embedded, {
      pay: () => {
        runs += 1;
        return new Promise(() => undefined);
      },
    });
    await expect.poll(() => readStatuses(begun.decisionId)).toEqual(["started"]);
    // The first executor is gone without closing, and its handler never ends.
    void first;
    await startExecutor(embedded, { pay: () => (runs += 1) });
    await expect.poll(() => readStatuses(begun.decisionId)).toEqual(["started", "unknown"]);
    const done = await propose("pay", { order: "8" });
    await expect
      .poll(async () => (await readStatuses(done.decisionId)).includes("succeeded"))
      .toBe(true);
    expect(await readStatuses(begun.decisionId)).toEqual(["started", "unknown"]);
    expect((await propose("pay", { order: "7" })).refusal?.reason).toBe("outcome_unknown");
  });

  test("reports a handler that fails, and continues", async () => {
    const { embedded, propose, readStatuses } = await openGate();
    await startExecutor(embedded, {
      pay: ({ order }) => {
        if (order === "7") throw new Error("declined");
        return "paid";
      },
    });
    const failed = await propose("pay", { order: "7" });
    const paid = await propose("pay", { order: "8" });
    await expect.poll(() => readStatuses(paid.decisionId)).toEqual(["started", "succeeded"]);
    expect(await readStatuses(failed.decisionId)).toEqual(["started", "failed"]);
  });

  test("ends running calls when it is closed", async () => {
    const { embedded, propose, readStatuses } = await openGate();
    const executor = await startExecutor(embedded, {
      pay: (_args, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener("abort", () => reject(signal.reason));
        }),
    });
    const begun = await propose("pay", { order: "7" });
    await expect.poll(() => readStatuses(begun.decisionId)).toEqual(["started"]);
    await executor.close(1);
    expect(await readStatuses(begun.decisionId)).toEqual(["started", "unknown"]);
  });

  test("starts nothing once another executor has taken over, and reports what it had begun", async () => {
    const { embedded, propose, readStatuses } = await openGate();
    const ownership = new FencingOwnership(embedded.log);
    const runs: string[] = [];
    let end: (value: string) => void = () => undefined;
    const slow = () =>
      new Promise<string>((resolve) => {
        end = resolve;
      });
    const first = await startExecutor(embedded, { pay: slow }, { ownership });
    const begun = await propose("pay", { order: "7" });
    await expect.poll(() => readStatuses(begun.decisionId)).toEqual(["started"]);
    const pay: Handler = ({ order }) => runs.push(String(order));
    await startExecutor(embedded, { pay }, { ownership });
    await expect.poll(() => readStatuses(begun.decisionId)).toEqual(["started", "unknown"]);
    // It was only cut off: it still reports its result in the end.
    end("paid");
    await expect
      .poll(() => readStatuses(begun.decisionId))
      .toEqual(["started", "unknown", "succeeded"]);
    const next = await propose("pay", { order: "8" });
    await expect.poll(() => readStatuses(next.decisionId)).toEqual(["started", "succeeded"]);
    await expect.poll(() => first.status.state).toBe("not_owner");
    expect(runs).toEqual(["8"]);
  });

  test("does not report a call that it had in hand when another executor took over", async () => {
    const { embedded, propose, readStatuses } = await openGate({ start_within_ms: 1_000 });
    const ownership = new FencingOwnership(embedded.log);
    const ends: (() => void)[] = [];
    const slow = () => new Promise<void>((resolve) => ends.push(resolve));
    const first = await startExecutor(embedded, { pay: slow }, { ownership });
    const begun = await propose("pay", { order: "7" });
    await expect.poll(() => readStatuses(begun.decisionId)).toEqual(["started"]);
    // It waits in the first executor, and runs in the second.
    const next = await propose("pay", { order: "8" });
    await startExecutor(embedded, { pay: slow }, { ownership });
    await expect.poll(() => ends.length).toBe(2);
    await expect
      .poll(() => Date.now() > (next.notAfter ?? Infinity), { timeout: 3_000 })
      .toBe(true);
    ends[0]?.();
    await expect.poll(() => first.status.state).toBe("not_owner");
    expect(await readStatuses(next.decisionId)).toEqual(["started"]);
    expect((await propose("pay", { order: "8" })).outcome).toBe("refused");
  });

  test("does not start what another executor began while the partition was lost to it", async () => {
    const { embedded, propose, readStatuses } = await openGate();
    const ownership = new FencingOwnership(embedded.log);
    const ends: (() => void)[] = [];
    const runs: string[] = [];
    const slow: Handler = ({ order }) => {
      runs.push(`first ${order}`);
      return new Promise<void>((resolve) => ends.push(resolve));
    };
    const first = await startExecutor(embedded, { pay: slow }, { ownership });
    const begun = await propose("pay", { order: "7" });
    await expect.poll(() => runs).toEqual(["first 7"]);
    const queued = await propose("pay", { order: "8" });
    ownership.outcomes.push("unknown, not done");
    await propose("pay", { order: "9" }, "c2");
    await expect.poll(() => first.status.state).toBe("suspended");
    const pay: Handler = ({ order }) => {
      runs.push(`second ${order}`);
      return new Promise(() => undefined);
    };
    await startExecutor(embedded, { pay }, { ownership });
    await expect.poll(() => runs).toContain("second 8");
    await expect.poll(() => first.status.state).toBe("running");
    ends[0]?.();
    await expect.poll(() => readStatuses(begun.decisionId)).toContain("succeeded");
    await systemClock.sleep(100);
    expect(runs).not.toContain("first 8");
    // The executor that began it may still be running it.
    expect(await readStatuses(queued.decisionId)).toEqual(["started"]);
  });

  test.each(["unknown, done", "unknown, not done"] as const)(
    "takes over again if it cannot tell whether a start is in the log (%s)",
    async (outcome) => {
      const { embedded, propose, readStatuses } = await openGate();
      const ownership = new FencingOwnership(embedded.log);
      let runs = 0;
      const parts = { ownership, parallelCalls: 1 };
      const executor = await startExecutor(embedded, { pay: () => (runs += 1) }, parts);
      ownership.outcomes.push(outcome);
      const paid = await propose("pay", { order: "7" });
      await expect.poll(() => readStatuses(paid.decisionId)).toContain("succeeded");
      expect(
        (await readStatuses(paid.decisionId)).filter((status) => status === "unknown"),
      ).toEqual([]);
      expect(runs).toBe(1);
      await expect.poll(() => executor.status.state).toBe("running");
    },
  );

  test("retries writing a result until it is in the log", async () => {
    const { embedded, propose, readStatuses } = await openGate();
    let failures = 2;
    const { log } = embedded;
    const failing = appendingBy(log, (records) => {
      const [record] = records;
      const decoded = embedded.codec.decodeInput("results", record?.value ?? null);
      const isStart =
        decoded.ok && decoded.input.type === "result" && decoded.input.status === "started";
      if (isStart || failures === 0) return log.append(records);
      failures -= 1;
      return Promise.reject(new RetryableError("log_unavailable", "no broker answers"));
    });
    await startExecutor(embedded, { pay: () => "paid" }, { log: failing });
    const paid = await propose("pay", { order: "7" });
    await expect
      .poll(() => readStatuses(paid.decisionId), { timeout: 5_000 })
      .toEqual(["started", "succeeded"]);
    expect(failures).toBe(0);
  });

  test("never exceeds its maximum of running calls", async () => {
    const { embedded, propose, readStatuses } = await openGate();
    let running = 0;
    let most = 0;
    const read: Handler = async () => {
      running += 1;
      most = Math.max(most, running);
      await new Promise((resolve) => setImmediate(resolve));
      running -= 1;
      return "read";
    };
    await startExecutor(embedded, { read }, { parallelCalls: 2 });
    const calls = await Promise.all(["1", "2", "3", "4", "5"].map((id) => propose("read", { id })));
    for (const { decisionId } of calls) {
      await expect.poll(() => readStatuses(decisionId)).toEqual(["started", "succeeded"]);
    }
    expect(most).toBe(2);
  });

  test("forgets begun calls once they could not begin any more", async () => {
    const { embedded, propose, readStatuses } = await openGate();
    const forget = vi.spyOn(SettledDecisions.prototype, "forget");
    onTestFinished(() => forget.mockRestore());
    let laterMs = 0;
    const clock = { ...systemClock, nowMs: () => systemClock.nowMs() + laterMs };
    await startExecutor(embedded, { read: () => "read" }, { clock });
    for (const id of ["1", "2", "3"]) {
      const { decisionId } = await propose("read", { id });
      await expect.poll(() => readStatuses(decisionId)).toEqual(["started", "succeeded"]);
    }
    const [settled] = forget.mock.contexts as readonly SettledDecisions[];
    expect(settled?.size).toBe(3);
    laterMs = 120_000;
    await propose("read", { id: "4" });
    await expect.poll(() => settled?.size).toBe(0);
  });

  test("waits for room without leaking listeners", async () => {
    const { embedded, propose, readStatuses } = await openGate();
    const listening = new Map<AbortSignal, number>();
    const count = (name: "addEventListener" | "removeEventListener", by: number) => {
      const original = EventTarget.prototype[name];
      vi.spyOn(EventTarget.prototype, name).mockImplementation(function (
        this: EventTarget,
        ...args: unknown[]
      ) {
        if (this instanceof AbortSignal) listening.set(this, (listening.get(this) ?? 0) + by);
        return Reflect.apply(original, this, args);
      });
    };
    count("addEventListener", 1);
    count("removeEventListener", -1);
    onTestFinished(() => void vi.restoreAllMocks());
    const read: Handler = () => new Promise((resolve) => setTimeout(() => resolve("read"), 1));
    await startExecutor(embedded, { read }, { parallelCalls: 2 });
    const calls = await Promise.all(Array.from({ length: 40 }, (_, id) => propose("read", { id })));
    for (const { decisionId } of calls) {
      await expect.poll(() => readStatuses(decisionId)).toEqual(["started", "succeeded"]);
    }
    expect(Math.max(...listening.values())).toBeLessThan(10);
  });

  test("reads no further back than calls may still start", async () => {
    const { embedded, propose } = await openGate();
    for (let order = 0; order < 20; order += 1) await propose("other", { order });
    const { log } = embedded;
    const { records } = await log.read("allowed", 0, 0, { recordsMax: 100, bytesMax: 10_000_000 });
    for (const { appendTimeMs } of records) {
      const offset = await findOffsetAt(log, "allowed", 0, appendTimeMs);
      const before = records.filter((record) => record.appendTimeMs < appendTimeMs);
      expect(offset).toBe(before.length);
    }
    expect(await findOffsetAt(log, "allowed", 0, Number.MAX_SAFE_INTEGER)).toBe(20);
  });
});
