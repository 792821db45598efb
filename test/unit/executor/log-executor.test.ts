import { describe, expect, onTestFinished, test } from "vitest";
import { quietLogger } from "../../../services/adapters/log/quiet-logger.ts";
import { systemClock } from "../../../services/adapters/system/clock.ts";
import type { Handler } from "../../../services/executor/executor.ts";
import { LogExecutor, type LogExecutorParts } from "../../../services/executor/log-executor.ts";
import { offsetAt } from "../../../services/executor/offset-at.ts";
import { FencedError, RetryableError } from "../../../services/runtime/errors.ts";
import type {
  CommitOutcome,
  Log,
  OutgoingRecord,
  Ownership,
  PartitionWriter,
} from "../../../services/runtime/ports.ts";
import { NO_POSITION } from "../../../services/runtime/topics.ts";
import { linkToEmbedded } from "../../../services/sdk/embedded-link.ts";
import { GateClient } from "../../../services/sdk/gate-client.ts";
import { type Embedded, openEmbedded } from "../../../services/sdk/open-embedded.ts";

const POLICY = {
  tool_schemas: { pay: { idempotency_argument: "key" }, read: { read_only: true }, other: {} },
};

async function openGate(pay: object = {}) {
  const tools = { ...POLICY.tool_schemas, pay: { ...POLICY.tool_schemas.pay, ...pay } };
  const document = { tool_schemas: tools };
  const embedded = await openEmbedded({ policy: { document }, dataDir: false });
  onTestFinished(() => embedded.close());
  const client = new GateClient(linkToEmbedded(embedded), { timeoutMs: 10_000, onLost: undefined });
  let calls = 0;
  const propose = async (tool: string, args: object, conversationId = "c1") => {
    calls += 1;
    const call = { conversationId, turn: 1, step: 1, callId: `call-${calls}`, tool };
    return (await client.propose({ ...call, arguments: args })).decision;
  };
  /** What the gate was told of a decision, in order. */
  const told = async (decisionId: string | undefined): Promise<readonly string[]> => {
    const limits = { recordsMax: 1_000, bytesMax: 10_000_000 };
    const { records } = await embedded.log.read("results", 0, 0, limits);
    return records.flatMap(({ value }) => {
      const decoded = embedded.codec.decodeInput("results", value);
      if (!decoded.ok || decoded.input.type !== "result") return [];
      return decoded.input.decisionId === decisionId ? [decoded.input.status] : [];
    });
  };
  return { embedded, propose, told };
}

type Handlers = Readonly<Record<string, Handler>>;

async function startExecutor(
  { log, codec }: Embedded,
  handlers: Handlers,
  given: Partial<LogExecutorParts> = {},
): Promise<LogExecutor> {
  const parts = { log, codec, clock: systemClock, logger: quietLogger, partition: 0, handlers };
  const executor = new LogExecutor({ ...parts, ownership: null, parallelCalls: 256, ...given });
  executor.start();
  onTestFinished(() => executor.close(0));
  await expect.poll(() => executor.status.state).toBe("running");
  return executor;
}

/** Fences as brokers do, beside the gate's own log: `started` of an owner before is refused. */
class FencingOwnership implements Ownership {
  readonly #log: Log;
  /** Taken from the front by each commit: how it ends, after it was appended or not. */
  readonly outcomes: ("unknown, done" | "unknown, not done")[] = [];
  #epoch = 0;

  constructor(log: Log) {
    this.#log = log;
  }

  async takeOver(partition: number): Promise<PartitionWriter> {
    this.#epoch += 1;
    const epoch = this.#epoch;
    return {
      partition,
      recordedOffsets: async () => NO_POSITION,
      commit: ({ records }) => this.#commit(epoch, records),
      close: async () => undefined,
    };
  }

  async #commit(epoch: number, records: readonly OutgoingRecord[]): Promise<CommitOutcome> {
    if (epoch !== this.#epoch) throw new FencedError("another executor has the partition");
    const outcome = this.outcomes.shift();
    const error = new Error("no answer");
    if (outcome === "unknown, not done") return { type: "unknown", error };
    const appended = await this.#log.append(records);
    return outcome === undefined ? { type: "committed", appended } : { type: "unknown", error };
  }
}

describe("an executor that follows the log", () => {
  test("runs what is allowed for its tools, and says that it starts before it does", async () => {
    const { embedded, propose, told } = await openGate();
    const given: unknown[] = [];
    await startExecutor(embedded, {
      pay: (args, { idempotencyKey }) => {
        given.push(args, idempotencyKey);
        return "paid";
      },
    });
    const other = await propose("other", {});
    const paid = await propose("pay", { order: "7", key: "the model's" });
    await expect.poll(() => told(paid.decisionId)).toEqual(["started", "succeeded"]);
    expect(given).toEqual([{ order: "7", key: paid.idempotencyKey }, paid.idempotencyKey]);
    expect(await told(other.decisionId)).toEqual([]);
    const again = await propose("pay", { order: "7" });
    expect(again.refusal?.previousResult).toMatchObject({ inline: "paid" });
  });

  test("tells of calls whose tool has no handler here, of those that may still be begun", async () => {
    const { embedded, propose } = await openGate();
    const left: string[] = [];
    const onLeft = (tool: string): void => void left.push(tool);
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

  test("takes up what was allowed before it started", async () => {
    const { embedded, propose, told } = await openGate();
    const early = await propose("pay", { order: "7" });
    await startExecutor(embedded, { pay: () => "paid" });
    await expect.poll(() => told(early.decisionId)).toEqual(["started", "succeeded"]);
  });

  test("runs nothing that another executor had started, and says that nobody knows", async () => {
    const { embedded, propose, told } = await openGate();
    const begun = await propose("pay", { order: "7" });
    let runs = 0;
    const first = await startExecutor(embedded, {
      pay: () => {
        runs += 1;
        return new Promise(() => undefined);
      },
    });
    await expect.poll(() => told(begun.decisionId)).toEqual(["started"]);
    // Gone without a word: it is not closed, and its handler never ends.
    void first;
    await startExecutor(embedded, { pay: () => (runs += 1) });
    await expect.poll(() => told(begun.decisionId)).toEqual(["started", "unknown"]);
    const done = await propose("pay", { order: "8" });
    await expect.poll(async () => (await told(done.decisionId)).includes("succeeded")).toBe(true);
    expect(await told(begun.decisionId)).toEqual(["started", "unknown"]);
    expect((await propose("pay", { order: "7" })).refusal?.reason).toBe("outcome_unknown");
  });

  test("reports a handler that fails, and goes on", async () => {
    const { embedded, propose, told } = await openGate();
    await startExecutor(embedded, {
      pay: ({ order }) => {
        if (order === "7") throw new Error("declined");
        return "paid";
      },
    });
    const failed = await propose("pay", { order: "7" });
    const paid = await propose("pay", { order: "8" });
    await expect.poll(() => told(paid.decisionId)).toEqual(["started", "succeeded"]);
    expect(await told(failed.decisionId)).toEqual(["started", "failed"]);
  });

  test("ends what it runs when it is closed", async () => {
    const { embedded, propose, told } = await openGate();
    const executor = await startExecutor(embedded, {
      pay: (_args, { signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener("abort", () => reject(signal.reason));
        }),
    });
    const begun = await propose("pay", { order: "7" });
    await expect.poll(() => told(begun.decisionId)).toEqual(["started"]);
    await executor.close(1);
    expect(await told(begun.decisionId)).toEqual(["started", "unknown"]);
  });

  test("starts nothing once another executor has taken over, and tells what it had begun", async () => {
    const { embedded, propose, told } = await openGate();
    const ownership = new FencingOwnership(embedded.log);
    const runs: string[] = [];
    let end: (value: string) => void = () => undefined;
    const slow = () =>
      new Promise<string>((resolve) => {
        end = resolve;
      });
    const first = await startExecutor(embedded, { pay: slow }, { ownership });
    const begun = await propose("pay", { order: "7" });
    await expect.poll(() => told(begun.decisionId)).toEqual(["started"]);
    const pay: Handler = ({ order }) => runs.push(String(order));
    await startExecutor(embedded, { pay }, { ownership });
    await expect.poll(() => told(begun.decisionId)).toEqual(["started", "unknown"]);
    // It was only cut off: what it knows in the end is told all the same.
    end("paid");
    await expect.poll(() => told(begun.decisionId)).toEqual(["started", "unknown", "succeeded"]);
    const next = await propose("pay", { order: "8" });
    await expect.poll(() => told(next.decisionId)).toEqual(["started", "succeeded"]);
    await expect.poll(() => first.status.state).toBe("not_owner");
    expect(runs).toEqual(["8"]);
  });

  test("says nothing of a call that it had in hand when another executor took over", async () => {
    const { embedded, propose, told } = await openGate({ start_within_ms: 1_000 });
    const ownership = new FencingOwnership(embedded.log);
    const ends: (() => void)[] = [];
    const slow = () => new Promise<void>((resolve) => ends.push(resolve));
    const first = await startExecutor(embedded, { pay: slow }, { ownership });
    const begun = await propose("pay", { order: "7" });
    await expect.poll(() => told(begun.decisionId)).toEqual(["started"]);
    // It waits in the first executor, and is run by the second.
    const next = await propose("pay", { order: "8" });
    await startExecutor(embedded, { pay: slow }, { ownership });
    await expect.poll(() => ends.length).toBe(2);
    await expect
      .poll(() => Date.now() > (next.notAfter ?? Infinity), { timeout: 3_000 })
      .toBe(true);
    ends[0]?.();
    await expect.poll(() => first.status.state).toBe("not_owner");
    expect(await told(next.decisionId)).toEqual(["started"]);
    expect((await propose("pay", { order: "8" })).outcome).toBe("refused");
  });

  test("does not start what another executor has begun while the partition was lost to it", async () => {
    const { embedded, propose, told } = await openGate();
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
    await expect.poll(() => told(begun.decisionId)).toContain("succeeded");
    await systemClock.sleep(100);
    expect(runs).not.toContain("first 8");
    // Who began it may be at it still.
    expect(await told(queued.decisionId)).toEqual(["started"]);
  });

  test.each(["unknown, done", "unknown, not done"] as const)(
    "takes over again where it is not known whether a start is in the log (%s)",
    async (outcome) => {
      const { embedded, propose, told } = await openGate();
      const ownership = new FencingOwnership(embedded.log);
      let runs = 0;
      const parts = { ownership, parallelCalls: 1 };
      const executor = await startExecutor(embedded, { pay: () => (runs += 1) }, parts);
      ownership.outcomes.push(outcome);
      const paid = await propose("pay", { order: "7" });
      await expect.poll(() => told(paid.decisionId)).toContain("succeeded");
      expect((await told(paid.decisionId)).filter((status) => status === "unknown")).toEqual([]);
      expect(runs).toBe(1);
      await expect.poll(() => executor.status.state).toBe("running");
    },
  );

  test("writes a result again and again until it is in the log", async () => {
    const { embedded, propose, told } = await openGate();
    let failures = 2;
    const { log } = embedded;
    const failing: Log = Object.assign(Object.create(log) as Log, {
      append: (records: readonly OutgoingRecord[]) => {
        const [record] = records;
        const decoded = embedded.codec.decodeInput("results", record?.value ?? null);
        const isStart =
          decoded.ok && decoded.input.type === "result" && decoded.input.status === "started";
        if (isStart || failures === 0) return log.append(records);
        failures -= 1;
        return Promise.reject(new RetryableError("log_unavailable", "no broker answers"));
      },
      read: log.read.bind(log),
      endOffset: log.endOffset.bind(log),
      startOffset: log.startOffset.bind(log),
      waitForNew: log.waitForNew.bind(log),
    });
    await startExecutor(embedded, { pay: () => "paid" }, { log: failing });
    const paid = await propose("pay", { order: "7" });
    await expect
      .poll(() => told(paid.decisionId), { timeout: 5_000 })
      .toEqual(["started", "succeeded"]);
    expect(failures).toBe(0);
  });

  test("has no more calls under way than it may", async () => {
    const { embedded, propose, told } = await openGate();
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
      await expect.poll(() => told(decisionId)).toEqual(["started", "succeeded"]);
    }
    expect(most).toBe(2);
  });

  test("reads no further back than calls may still be started", async () => {
    const { embedded, propose } = await openGate();
    for (let order = 0; order < 20; order += 1) await propose("other", { order });
    const { log } = embedded;
    const { records } = await log.read("allowed", 0, 0, { recordsMax: 100, bytesMax: 10_000_000 });
    for (const { appendTimeMs } of records) {
      const offset = await offsetAt(log, "allowed", 0, appendTimeMs);
      const before = records.filter((record) => record.appendTimeMs < appendTimeMs);
      expect(offset).toBe(before.length);
    }
    expect(await offsetAt(log, "allowed", 0, Number.MAX_SAFE_INTEGER)).toBe(20);
  });
});
