// Whether /readyz and the metrics show that a process does its work.
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import { startKafka } from "../../../infra/local/start-kafka.js";
import { kafkaBackend } from "../../support/backends/kafka-backend.ts";
import { localParts } from "../../support/backends/local-parts.ts";
import { createClusterKit } from "../../support/processes/cluster-kit.ts";

const kafka = await kafkaBackend();
const parts = localParts(["kafka"]);

const POLICY = "tool_schemas: {pay: {}}\n";
const HANDLERS = "export const pay = () => 1;\n";

/** Starts a broker twice and three processes, beside everything else that runs. */
const WITHIN_MS = 600_000;

describe.skipIf(!kafka.available)("a process that its brokers reject", () => {
  test.each(["gate", "executor"])("reports the session time-out and ends: %s", async (service) => {
    const kit = await createClusterKit(kafka.brokers);
    // Beyond what brokers allow by default, half an hour.
    const overrides = { kafka: { ...kit.config.kafka, sessionTimeoutMs: 2_000_000 } };
    const running =
      service === "gate"
        ? kit.startGate(POLICY, overrides)
        : kit.startExecutor(HANDLERS, overrides);
    expect((await running.ended).code).toBe(3);
    const output = `${JSON.stringify(running.lines)} ${running.stderr}`;
    expect(output).toContain("joining the group: the brokers do not accept this session time-out");
    expect(output).toContain("set `kafka.sessionTimeoutMs`");
  });
});

describe.skipIf(!parts.available)("a broker that is killed while idle", () => {
  test(
    "is noticed by gate, executor and analytics, and so is its return",
    async () => {
      const own = await startKafka();
      onTestFinished(async () => {
        await own.stop();
      });
      const kit = await createClusterKit(own.bootstrap, { partitions: 2 });
      const running = {
        gate: kit.startGate(POLICY),
        executor: kit.startExecutor(HANDLERS),
        analytics: kit.startAnalytics(),
      };
      const all = Object.entries(running);
      await Promise.all(all.map(([, one]) => one.ready()));
      own.brokers[0]?.kill();
      for (const [name, one] of all) {
        const status = async () => (await one.get("/readyz")).status;
        await expect.poll(status, { timeout: WITHIN_MS / 4, message: name }).toBe(503);
        const numbers = await (await one.get("/metrics")).text();
        expect(numbers).toContain(`callgate_ready{service="${name}"} 0`);
      }
      await own.brokers[0]?.restart();
      await Promise.all(all.map(([, one]) => one.ready()));
    },
    WITHIN_MS,
  );
});

describe.skipIf(!kafka.available)("a gate on a cluster", () => {
  test("has no metric that claims readiness before it was ready", async () => {
    const kit = await createClusterKit(kafka.brokers);
    const gate = kit.startGate(POLICY);
    await gate.ready();
    expect(await (await gate.get("/metrics")).text()).toContain('callgate_ready{service="gate"} 1');
  });

  test("stays ready while idle, with and without a partition of its own", async () => {
    const kit = await createClusterKit(kafka.brokers, { partitions: 1 });
    const overrides = { kafka: { ...kit.config.kafka, sessionTimeoutMs: 3_000 } };
    const gates = [kit.startGate(POLICY, overrides), kit.startGate(POLICY, overrides)];
    await Promise.all(gates.map((gate) => gate.ready()));
    await sleep(2 * overrides.kafka.sessionTimeoutMs);
    await Promise.all(gates.map((gate) => gate.ready()));
    const joined = await Promise.all(
      gates.map(async (gate) => (await gate.get("/readyz")).json() as Promise<object>),
    );
    expect(joined).toMatchObject([{ joined: true }, { joined: true }]);
  });
});
