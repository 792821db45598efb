// Whether a process does its work, as /readyz and the numbers tell it.
import { describe, expect, test } from "vitest";
import { kafkaBackend } from "../../support/backends/kafka-backend.ts";
import { createClusterKit } from "../../support/processes/cluster-kit.ts";

const kafka = await kafkaBackend();

const POLICY = "tool_schemas: {pay: {}}\n";
const HANDLERS = "export const pay = () => 1;\n";

describe.skipIf(!kafka.available)("a process that its brokers do not take", () => {
  test.each(["gate", "executor"])("a %s names the session time-out, and ends", async (service) => {
    const kit = await createClusterKit(kafka.brokers);
    // Beyond what brokers allow by default, half an hour.
    const given = { kafka: { ...kit.config.kafka, sessionTimeoutMs: 2_000_000 } };
    const running =
      service === "gate" ? kit.startGate(POLICY, given) : kit.startExecutor(HANDLERS, given);
    expect((await running.ended).code).toBe(3);
    const told = `${JSON.stringify(running.lines)} ${running.stderr}`;
    expect(told).toContain("joining the group: the brokers take no session of this length");
    expect(told).toContain("set `kafka.sessionTimeoutMs`");
  });
});

describe.skipIf(!kafka.available)("a gate on a cluster", () => {
  test("has no number that says it was ready before it was", async () => {
    const kit = await createClusterKit(kafka.brokers);
    const gate = kit.startGate(POLICY);
    await gate.ready();
    expect(await (await gate.get("/metrics")).text()).toContain('callgate_ready{service="gate"} 1');
  });
});
