import { describe, expect, onTestFinished, test } from "vitest";
import { quietLogger } from "../../../services/adapters/log/quiet-logger.ts";
import { systemClock } from "../../../services/adapters/system/clock.ts";
import type { Handler } from "../../../services/executor/executor.ts";
import { LogExecutor } from "../../../services/executor/log-executor.ts";
import { linkToEmbedded } from "../../../services/sdk/embedded-link.ts";
import { GateClient } from "../../../services/sdk/gate-client.ts";
import { type Embedded, openEmbedded } from "../../../services/sdk/open-embedded.ts";

const POLICY = {
  tool_schemas: { pay: { idempotency_argument: "key" }, read: { read_only: true }, other: {} },
};

async function openGate() {
  const embedded = await openEmbedded({ policy: { document: POLICY }, dataDir: false });
  onTestFinished(() => embedded.close());
  const client = new GateClient(linkToEmbedded(embedded), { timeoutMs: 10_000, onLost: undefined });
  let calls = 0;
  const propose = async (tool: string, args: object) => {
    calls += 1;
    const call = { conversationId: "c1", turn: 1, step: 1, callId: `call-${calls}`, tool };
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

async function startExecutor(
  { log, codec }: Embedded,
  handlers: Readonly<Record<string, Handler>>,
): Promise<LogExecutor> {
  const parts = { log, codec, clock: systemClock, logger: quietLogger, partition: 0, handlers };
  const executor = new LogExecutor(parts);
  await executor.start();
  onTestFinished(() => executor.close(0));
  return executor;
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
    expect(await told(begun.decisionId)).toEqual(["started", "unknown"]);
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
});
