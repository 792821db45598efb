// The steps of docs/operations.md, "Two environments on one cluster", with one Redis for both.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { connectCallgate } from "../../../services/library/callgate.ts";
import { kafkaBackend } from "../../support/backends/kafka-backend.ts";
import { redisBackend } from "../../support/backends/redis-backend.ts";
import { uniqueName } from "../../support/backends/unique-name.ts";
import { makeDirectory } from "../../support/open-gate.ts";
import { startProcess } from "../../support/processes/running-process.ts";
import { runCallgate } from "../../support/run-callgate.ts";

const kafka = await kafkaBackend();
const redis = await redisBackend();

const POLICY = "tool_schemas: { pay: {} }\n";
const CALL = {
  ...{ conversationId: "c1", turn: 1, step: 1, callId: "a", tool: "pay" },
  arguments: { order: "7" },
};

function environment(topicPrefix: string, kafkaKeys: object = {}) {
  const config = {
    kafka: { brokers: kafka.brokers, topicPrefix, ...kafkaKeys },
    redis: { url: redis.url },
    secret: { value: `the secret of ${topicPrefix}` },
    policy: { files: ["policy.yaml"] },
    http: { port: 0 },
  };
  const file = join(makeDirectory(), "callgate.json");
  writeFileSync(join(file, "..", "policy.yaml"), POLICY);
  writeFileSync(file, JSON.stringify(config));
  const run = (...args: readonly string[]) => runCallgate([...args, "--config", file]);
  const start = () => startProcess(["gate"], config, { "policy.yaml": POLICY });
  return { topicPrefix, run, start };
}

async function propose({ topicPrefix }: { readonly topicPrefix: string }) {
  const callgate = await connectCallgate({ kafka: { brokers: kafka.brokers, topicPrefix } });
  onTestFinished(() => callgate.close());
  return callgate.propose(CALL);
}

describe.skipIf(!kafka.available || !redis.available)("two environments on one cluster", () => {
  test("need a prefix each, and share the rest", async () => {
    const environments = [environment(uniqueName("prod")), environment(uniqueName("staging"))];
    for (const { topicPrefix, run } of environments) {
      const { stdout } = await run("config", "print");
      expect(stdout).toContain(`group: callgate-${topicPrefix}-gate`);
      expect(stdout).toContain(`group: callgate-${topicPrefix}-executor`);
      expect(await run("topics", "apply", "--partitions", "1")).toMatchObject({ code: 0 });
    }
    const gates = environments.map(({ start }) => start());
    for (const gate of gates) await gate.ready();
    const decisions = await Promise.all(environments.map(propose));
    expect(decisions).toMatchObject([
      { outcome: "allowed", repeated: false },
      { outcome: "allowed", repeated: false },
    ]);
    for (const { run } of environments) {
      const { code, stdout } = await run("doctor");
      expect(stdout).not.toContain("another environment");
      expect(code, stdout).toBe(0);
    }
    // Each ends with a checkpoint of its own, and the next gate goes on from there.
    for (const gate of gates) gate.child.kill("SIGTERM");
    for (const gate of gates) expect((await gate.ended).code).toBe(0);
    for (const [at, one] of environments.entries()) {
      const again = one.start();
      await again.ready();
      const { decisionId } = decisions[at] ?? {};
      expect(await propose(one)).toMatchObject({ repeated: true, decisionId });
    }

    const [prod, staging] = environments;
    const group = `callgate-${prod?.topicPrefix}-gate`;
    const { stdout } = await environment(staging?.topicPrefix ?? "", { group }).run("doctor");
    expect(stdout).toContain(`the group \`${group}\` reads \`${prod?.topicPrefix}.proposed.v1\``);
    expect(stdout).toContain("another environment has the same group");
  });
});
