// The steps of docs/recovery.md, "A cluster", after all topics were lost.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { kafkaBackend } from "../../support/backends/kafka-backend.ts";
import { redisBackend } from "../../support/backends/redis-backend.ts";
import { connectKafka } from "../../support/kafka/test-cluster.ts";
import { makeDirectory } from "../../support/open-gate.ts";
import { runSteps, stepsOf } from "../../support/page-steps.ts";
import { createClusterKit } from "../../support/processes/cluster-kit.ts";
import { until } from "../../support/runtime-kit.ts";

const kafka = await kafkaBackend();
const redis = await redisBackend();

const POLICY = "tool_schemas: { pay: {} }\n";
const CALL = {
  ...{ conversationId: "c1", turn: 1, step: 1, callId: "a", tool: "pay" },
  arguments: { order: "7" },
};

async function deleteTopics(topics: string[]): Promise<void> {
  const admin = connectKafka(kafka.brokers).admin();
  await admin.connect();
  onTestFinished(() => admin.disconnect());
  await admin.deleteTopics({ topics });
  await until(async () => (await admin.listTopics()).every((name) => !topics.includes(name)));
}

describe.skipIf(!kafka.available || !redis.available)("a cluster whose topics were lost", () => {
  test("goes on after the steps of the page, with the keys that calls had", async () => {
    const kit = await createClusterKit(kafka.brokers, { partitions: 1 });
    const sections = { redis: { url: redis.url } };
    const directory = makeDirectory();
    writeFileSync(join(directory, "policy.yaml"), POLICY);
    const config = { ...kit.config, ...sections, policy: { files: ["policy.yaml"] } };
    writeFileSync(join(directory, "callgate.yaml"), JSON.stringify(config));
    const [create, accept, check] = stepsOf("recovery.md", "### A cluster");
    const [show = "", confirm] = (accept ?? "").trim().split("\n");

    const first = kit.startGate(POLICY, sections);
    await first.ready();
    const { secret } = kit.config;
    const before = await (await kit.connect({ secret: secret.value })).propose(CALL);
    expect(before).toMatchObject({ outcome: "allowed" });
    first.child.kill("SIGTERM");
    await first.ended;

    await deleteTopics(Object.values(kit.config.kafka.topics));
    await runSteps(create, directory);
    const lost = runSteps(show, directory);
    await expect(lost).rejects.toMatchObject({ code: 1, stdout: expect.stringContaining("anew") });
    expect(await runSteps(confirm, directory)).toContain("accepted by ann");

    const again = kit.startGate(POLICY, sections);
    await again.ready();
    await runSteps(check, directory);
    const client = await kit.connect({ secret: secret.value });
    const { idempotencyKey } = before;
    expect(await client.propose(CALL)).toMatchObject({ repeated: false, idempotencyKey });
  });
});
