import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { kafkaBackend } from "../../support/backends/kafka-backend.ts";
import { redisBackend } from "../../support/backends/redis-backend.ts";
import { registryBackend } from "../../support/backends/registry-backend.ts";
import { uniqueName } from "../../support/backends/unique-name.ts";
import { runInProcess } from "../../support/memory-terminal.ts";
import { makeDirectory } from "../../support/open-gate.ts";
import { createClusterKit } from "../../support/processes/cluster-kit.ts";

const kafka = await kafkaBackend();
const registry = await registryBackend();
const redis = await redisBackend();

const POLICY = "tool_schemas: {pay: {}}\n";
const HANDLERS = "export const pay = ({ order }) => 'paid ' + order;";
const CALL = { conversationId: "c1", turn: 1, step: 1, tool: "pay" };

describe.skipIf(!kafka.available || !registry.available)("with a schema registry", () => {
  test("a gate refuses to start until its schemas are registered", async () => {
    const kit = await createClusterKit(kafka.brokers);
    const gate = kit.startGate(POLICY, { registry: { url: registry.url } });
    expect((await gate.ended).code).toBe(3);
    expect(gate.stderr).toMatch(/proposed\S*-value: `proposed-call` is not registered/);
  });

  test("a gate without topics says so, and registers nothing", async () => {
    const kit = await createClusterKit(kafka.brokers);
    const topicPrefix = uniqueName("nowhere");
    const gate = kit.startGate(POLICY, {
      kafka: { brokers: kafka.brokers, topicPrefix },
      registry: { url: registry.url, register: true },
    });
    expect((await gate.ended).code).toBe(3);
    expect(gate.stderr).toContain(`\`${topicPrefix}.proposed.v1\``);
    expect(gate.stderr).not.toMatch(/registr/);
    const subjects = await (await fetch(`${registry.url}/subjects`)).text();
    expect(subjects).not.toContain(topicPrefix);
  });

  test("all processes use its wire format", async () => {
    const kit = await createClusterKit(kafka.brokers);
    const overrides = { registry: { url: registry.url, register: true } };
    const gate = kit.startGate(POLICY, overrides);
    await gate.ready();
    const executor = kit.startExecutor(HANDLERS, { registry: { url: registry.url } });
    await executor.ready();
    const callgate = await kit.connect({ registry: { url: registry.url } });
    const paid = await callgate.propose({ ...CALL, callId: "a", arguments: { order: "7" } });
    expect(paid.outcome).toBe("allowed");
    expect(await callgate.awaitResult(paid.decisionId ?? "")).toMatchObject({ output: "paid 7" });
    expect(gate.lines.filter(({ level }) => level === "error")).toEqual([]);
    const file = join(makeDirectory(), "callgate.json");
    const doctor = async (more: object) => {
      writeFileSync(file, JSON.stringify({ ...kit.config, ...more }));
      const { stdout } = await runInProcess(["doctor", "--json", "--config", file]);
      return JSON.parse(stdout).findings.find(({ part }: { part: string }) => part === "registry");
    };
    expect(await doctor(overrides)).toMatchObject({ state: "ok" });
    expect(await doctor({})).toMatchObject({
      state: "wrong",
      lines: [expect.stringMatching(/is in the wire format .* none is configured: set `registry/)],
    });
  });
});

describe.skipIf(!kafka.available || !redis.available)("with Redis", () => {
  test("a restarted gate begins at its checkpoint", async () => {
    const kit = await createClusterKit(kafka.brokers, { partitions: 1 });
    const overrides = { redis: { url: redis.url } };
    const first = kit.startGate(POLICY, overrides);
    const callgate = await kit.connect();
    await first.ready();
    for (const order of ["1", "2", "3"]) {
      const call = { ...CALL, callId: order, arguments: { order } };
      expect((await callgate.propose(call)).outcome).toBe("allowed");
    }
    first.child.kill("SIGTERM");
    expect((await first.ended).code).toBe(0);
    const second = kit.startGate(POLICY, overrides);
    await second.ready();
    const restored = await second.line("a partition was restored");
    expect(restored).toMatchObject({ source: "checkpoint", replayed: 0 });
    const again = await callgate.propose({ ...CALL, callId: "3", arguments: { order: "3" } });
    expect(again.repeated).toBe(true);
  });

  test("a gate decides although Redis is down", async () => {
    const kit = await createClusterKit(kafka.brokers);
    const gate = kit.startGate(POLICY, { redis: { url: "redis://127.0.0.1:9" } });
    const callgate = await kit.connect();
    await gate.ready();
    const call = { ...CALL, callId: "a", arguments: { order: "7" } };
    expect((await callgate.propose(call)).outcome).toBe("allowed");
    expect(gate.lines.map(({ msg }) => msg)).toContain(
      "Redis is not reachable; decisions go on without checkpoints",
    );
  });
});
