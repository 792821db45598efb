import { describe, expect, onTestFinished, test } from "vitest";
import { connectCallgate } from "../../../services/sdk/callgate.ts";
import { kafkaBackend } from "../../support/backends/kafka-backend.ts";
import { makeTopics } from "../../support/kafka/test-cluster.ts";
import { sharedConfig, startProcess } from "../../support/processes/running-process.ts";

const kafka = await kafkaBackend();

const POLICY = `
tool_schemas:
  pay: {idempotency_argument: key}
  look: {read_only: true}
`;

const HANDLERS = `
let paid = 0;
export const handlers = {
  pay: ({ order, key }, { idempotencyKey }) => {
    if (order === "bad") throw Object.assign(new Error("declined"), { code: "402" });
    paid += 1;
    return { paid, order, sameKey: key === idempotencyKey };
  },
  look: ({ id }) => "seen " + id,
};
`;

async function setUp() {
  const names = await makeTopics(kafka.brokers, { config: { "retention.ms": "-1" } });
  const config = sharedConfig(kafka.brokers, names);
  const connect = async (given: { readonly secret?: string } = {}) => {
    const callgate = await connectCallgate({
      kafka: { brokers: kafka.brokers, topics: names },
      timeoutMs: 20_000,
      ...given,
    });
    onTestFinished(() => callgate.close());
    return callgate;
  };
  const startGate = () =>
    startProcess(
      ["gate"],
      { ...config, policy: { files: ["policy.yaml"] } },
      { "policy.yaml": POLICY },
    );
  const startExecutor = (handlers = HANDLERS) =>
    startProcess(
      ["executor"],
      { ...config, executor: { ...config.executor, handlers: "handlers.mjs" } },
      { "handlers.mjs": handlers },
    );
  return { config, connect, startGate, startExecutor };
}

describe.skipIf(!kafka.available)("gate, executor and agent on a cluster", () => {
  test("a call is decided, run elsewhere, and its result comes back", async () => {
    const { connect, startGate, startExecutor } = await setUp();
    const gate = startGate();
    const executor = startExecutor();
    const callgate = await connect();
    await Promise.all([gate.ready(), executor.ready()]);

    const call = { conversationId: "c1", turn: 1, step: 1, callId: "a", tool: "pay" };
    const decision = await callgate.propose({ ...call, arguments: { order: "7", key: "mine" } });
    expect(decision).toMatchObject({ outcome: "allowed", repeated: false });
    const id = decision.decisionId ?? "";
    expect(await callgate.awaitResult(id)).toMatchObject({
      decisionId: id,
      status: "succeeded",
      output: { paid: 1, order: "7", sameKey: true },
      whole: true,
    });

    // The same call id again is the same decision, and does not run again.
    const again = await callgate.propose({ ...call, arguments: { order: "7", key: "mine" } });
    expect(again).toMatchObject({ outcome: "allowed", repeated: true, decisionId: id });
    // The same call under another id is what it was.
    const twice = await callgate.propose({
      ...call,
      step: 2,
      callId: "b",
      arguments: { order: "7" },
    });
    expect(twice).toMatchObject({ outcome: "refused", refusal: { reason: "duplicate_call" } });
    await expect(callgate.awaitResult(twice.decisionId ?? "")).rejects.toMatchObject({
      code: "invalid_input",
    });

    const bad = await callgate.propose({
      ...call,
      step: 3,
      callId: "c",
      arguments: { order: "bad" },
    });
    expect(await callgate.awaitResult(bad.decisionId ?? "")).toMatchObject({ status: "failed" });

    // Somebody who was not there finds it in the journal.
    const late = await connect();
    expect(await late.awaitResult(id)).toMatchObject({ status: "succeeded" });
    expect(gate.lines.filter(({ level }) => level === "error")).toEqual([]);
    expect(gate.lines).toContainEqual(
      expect.objectContaining({
        msg: "journaled",
        conversationId: "c1",
        callId: "a",
        decisionId: id,
      }),
    );
    const numbers = await (await executor.get("/metrics")).text();
    expect(numbers).toContain(
      'callgate_executor_reports_total{status="succeeded",service="executor"} 1',
    );

    for (const running of [executor, gate]) {
      running.child.kill("SIGTERM");
      expect(await running.ended).toEqual({ code: 0, signal: null });
      expect(running.lines.at(-1)?.msg).toBe("stopped");
    }
  });
});
