// A gate that is asked to end while the brokers leave its commit without an answer.
import { describe, expect, onTestFinished, test } from "vitest";
import { kafkaBackend } from "../../support/backends/kafka-backend.ts";
import { KafkaProxy } from "../../support/kafka-proxy/kafka-proxy.ts";
import { createClusterKit } from "../../support/processes/cluster-kit.ts";

const kafka = await kafkaBackend();

const POLICY = "tool_schemas: {pay: {}}\n";
const CALL = { conversationId: "c1", turn: 1, step: 1, callId: "a", tool: "pay" };
/** The gate does not abandon a commit by itself before that. */
const PATIENT_MS = 60_000;

/** A gate that waits for the end of a transaction, which it will never learn. */
async function startHungGate(shutdownMs: number) {
  const kit = await createClusterKit(kafka.brokers, { partitions: 1 });
  const proxy = await KafkaProxy.start(kafka.brokers);
  onTestFinished(() => proxy.close());
  const gate = kit.startGate(POLICY, {
    kafka: {
      ...kit.config.kafka,
      ...{ brokers: proxy.brokers, transactionTimeoutMs: PATIENT_MS, requestTimeoutMs: PATIENT_MS },
    },
    shutdownMs,
  });
  const callgate = await kit.connect();
  await gate.ready();
  const deed = { type: "swallow" } as const;
  const { struck } = proxy.arm({ api: "EndTxn", deed, times: Number.POSITIVE_INFINITY });
  const decision = callgate.propose({ ...CALL, arguments: { order: "7" } });
  await struck;
  // The brokers have committed it; only the gate does not know.
  expect((await decision).outcome).toBe("allowed");
  return gate;
}

describe.skipIf(!kafka.available)("a gate whose commit hangs", () => {
  test("ends within its stated time, and reports by log and exit code that it did not finish", async () => {
    const shutdownMs = 500;
    const gate = await startHungGate(shutdownMs);
    gate.child.kill("SIGTERM");
    expect(await gate.ended).toEqual({ code: 3, signal: null });
    expect(gate.lines).toContainEqual(
      expect.objectContaining({ msg: "stopping", withinMs: shutdownMs }),
    );
    expect(gate.lines.at(-1)).toMatchObject({
      ...{ level: "error", msg: "the process did not stop in time", withinMs: shutdownMs },
    });
  });

  test("is not ready while it stops, and ends at once on a second signal", async () => {
    const gate = await startHungGate(PATIENT_MS);
    gate.child.kill("SIGTERM");
    await gate.line("stopping");
    const ready = await gate.get("/readyz");
    expect(ready.status).toBe(503);
    expect(await ready.json()).toEqual({ ok: false, state: "stopping" });
    gate.child.kill("SIGTERM");
    expect(await gate.ended).toEqual({ code: null, signal: "SIGTERM" });
    expect(gate.lines.at(-1)?.msg).toBe("stopping");
  });
});
