// A gate on Kafka sees the conversations of its partitions alone, and takes no policy with `scope: tenant`.
import { describe, expect, onTestFinished, test } from "vitest";
import { kafkaBackend } from "../../support/backends/kafka-backend.ts";
import { openTestGate, tenantPolicy, testPolicy } from "../../support/kafka/test-gate.ts";
import { makeWorld } from "../../support/kafka/two-owners.ts";

const kafka = await kafkaBackend();

describe.skipIf(!kafka.available).each([1, 2])("with %i partitions", (partitions) => {
  test("`scope: tenant` is an error at the start and at a reload", async () => {
    const { names, group } = await makeWorld(kafka.brokers, partitions);
    const opening = openTestGate(kafka.brokers, names, { group, policy: tenantPolicy });
    await expect(opening).rejects.toThrow(/leave `scope: tenant` out of the policy/);
    const gate = await openTestGate(kafka.brokers, names, { group });
    onTestFinished(() => gate.stop());
    expect(await gate.checkPolicy(testPolicy)).toEqual([]);
    expect(await gate.checkPolicy(tenantPolicy)).toMatchObject([
      { topic: names.decisions, remedy: expect.stringContaining("leave `scope: tenant` out") },
    ]);
  });
});
