// The commands that an operator runs before the first gate: topics, schemas and doctor.
import { writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { kafkaBackend } from "../../support/backends/kafka-backend.ts";
import { registryBackend } from "../../support/backends/registry-backend.ts";
import { uniqueName } from "../../support/backends/unique-name.ts";
import { connectKafka } from "../../support/kafka/test-cluster.ts";
import { runInProcess } from "../../support/memory-terminal.ts";
import { makeDirectory } from "../../support/open-gate.ts";

/** How long brokers may take to learn of a change. */
const PROPAGATION = { timeout: 10_000 };

const kafka = await kafkaBackend();
const registry = await registryBackend();
const TOPICS = 9;
/** `ConfigResourceTypes.TOPIC` of kafkajs. */
const TOPIC = 2;

function commandsWith(config: object) {
  const file = join(makeDirectory(), "callgate.json");
  writeFileSync(file, JSON.stringify(config));
  const run = (...args: string[]) => runInProcess([...args, "--config", file]);
  const json = async (...args: string[]) => {
    const { code, stdout, stderr } = await run(...args, "--json");
    return { code, ...JSON.parse(stdout === "" ? stderr : stdout) };
  };
  return { run, json };
}

describe.skipIf(!(kafka.available && registry.available))("before the first gate", () => {
  test("plans, creates and verifies topics and schemas", async () => {
    const topicPrefix = uniqueName("setup");
    const files = [join(makeDirectory(), "policy.yaml")];
    writeFileSync(files[0] ?? "", "mode: enforce\n");
    const { run, json } = commandsWith({
      kafka: { brokers: kafka.brokers, topicPrefix },
      registry: { url: registry.url },
      policy: { files },
    });
    const partOf = async (part: string) => {
      const { code, findings } = await json("doctor");
      const finding = findings.find((one: { part: string }) => one.part === part);
      return { code, ...finding };
    };
    const planned = await json("topics", "plan", "--partitions", "2");
    expect(planned).toMatchObject({ code: 0, applied: false });
    expect(planned.actions).toHaveLength(TOPICS);
    expect(await json("schemas", "check")).toMatchObject({ code: 0, ok: true });
    expect(await partOf("kafka")).toMatchObject({ code: 3, state: "wrong" });
    const early = await json("tail", "--once");
    expect(early.error.messages.join()).toMatch(/^the cluster has no topic `setup-/);

    const tooMany = await run("topics", "apply", "--partitions", "2", "--replication", "99");
    expect(tooMany.code).toBe(3);
    expect(tooMany.stderr).toMatch(/there are fewer brokers than replicas.*--repli/);

    const applied = await run("topics", "apply", "--partitions", "2");
    expect(applied.stdout).toContain(`${TOPICS} changes made\n`);
    const unregistered = await json("tail", "--once");
    expect(unregistered.error.messages.join()).toMatch(/callgate schemas register` adds missing/);
    const registered = await json("schemas", "register");
    expect(registered.subjects).toHaveLength(TOPICS);
    expect(registered.subjects).not.toContainEqual(
      expect.not.objectContaining({ state: "registered" }),
    );
    expect((await run("schemas", "check")).stdout).not.toMatch(/ (new|refused) /);
    expect((await run("topics", "plan")).stdout).toBe(
      "the topics need no change; they have 2 partitions each\n",
    );
    const more = await run("topics", "apply", "--partitions", "8");
    expect(more).toMatchObject({ code: 3, stdout: expect.stringContaining("cannot be changed") });
    expect(await run("doctor")).toMatchObject({ code: 0, stderr: "" });
    expect(await run("tail", "--once")).toMatchObject({ code: 0, stdout: "", stderr: "" });

    const admin = connectKafka(kafka.brokers).admin();
    await admin.connect();
    const name = `${topicPrefix}.decisions.v1`;
    const configEntries = [{ name: "retention.ms", value: "60000" }];
    const proposals = { type: TOPIC, name: `${topicPrefix}.proposed.v1` };
    const asSet = [...configEntries, { name: "message.timestamp.type", value: "LogAppendTime" }];
    const resources = [
      { type: TOPIC, name, configEntries },
      { ...proposals, configEntries: asSet },
    ];
    await admin.alterConfigs({ validateOnly: false, resources });
    // One of several brokers may not know of it yet.
    await expect
      .poll(() => partOf("kafka"), PROPAGATION)
      .toMatchObject({
        code: 3,
        lines: expect.arrayContaining([expect.stringContaining("is others for 60000 ms")]),
      });
    const repaired = async () => {
      await run("topics", "apply");
      return partOf("kafka");
    };
    await expect.poll(repaired, PROPAGATION).toMatchObject({ code: 0, state: "ok" });
    const { stdout } = await run("topics", "apply");
    expect(stdout).toMatch(/^note {6}\S+\.proposed\.v1: retention\.ms=60000 is left as it is/m);
    expect(stdout).toContain("the topics need no change; they have 2 partitions each\n");

    await admin.createPartitions({ topicPartitions: [{ topic: name, count: 3 }] });
    await admin.disconnect();
    await expect
      .poll(() => run("topics", "apply"), PROPAGATION)
      .toMatchObject({
        code: 3,
        stdout: expect.stringMatching(/^conflict {2}/m),
        stderr: expect.stringContaining("the topics must be changed by hand"),
      });
    await expect.poll(() => json("topics", "apply"), PROPAGATION).toMatchObject({ applied: false });
  });

  test("doctor makes the gate's checks of topics, and warns of more", async () => {
    const topicPrefix = uniqueName("doctor");
    const files = [join(makeDirectory(), "policy.yaml")];
    writeFileSync(files[0] ?? "", "conversation: { idle_ms: 3600000, max_age_ms: 86400000 }\n");
    const { run, json } = commandsWith({
      kafka: { brokers: kafka.brokers, topicPrefix },
      policy: { files },
    });
    await run("topics", "apply", "--partitions", "4");
    const admin = connectKafka(kafka.brokers).admin();
    await admin.connect();
    onTestFinished(() => admin.disconnect());
    // What is left out goes back to the broker's default.
    const others = [
      { name: "message.timestamp.type", value: "LogAppendTime" },
      { name: "compression.type", value: "lz4" },
    ];
    const set = (topic: string, name: string, value: number) =>
      admin.alterConfigs({
        validateOnly: false,
        resources: [
          {
            ...{ type: TOPIC, name: `${topicPrefix}.${topic}.v1` },
            configEntries: [...others, { name, value: String(value) }],
          },
        ],
      });
    const topicsOf = async () => {
      const { code, findings } = await json("doctor");
      return { code, ...findings.find(({ part }: { part: string }) => part === "kafka") };
    };
    // A day, the longest hold and another day are less than the journal's default retention.
    await set("decisions", "retention.ms", 3 * 86_400_000);
    expect((await run("topics", "apply")).stdout).toMatch(/^the topics need no change/);
    await expect.poll(topicsOf, PROPAGATION).toMatchObject({ code: 0, state: "ok" });

    await set("proposed", "retention.bytes", 1_000);
    await expect
      .poll(topicsOf, PROPAGATION)
      .toMatchObject({ code: 0, state: "warning", lines: [expect.stringMatching(/1000 bytes/)] });
    await admin.deleteTopics({ topics: [`${topicPrefix}.alerts.v1`] });
    const topics = [{ topic: `${topicPrefix}.alerts.v1`, numPartitions: 2 }];
    // kafkajs must not wait for it: its wait fails where a broker does not know the topic yet, although it exists.
    const made = () => admin.createTopics({ topics, waitForLeaders: false }).catch(() => false);
    await expect.poll(made, PROPAGATION).toBe(true);
    await expect
      .poll(topicsOf, PROPAGATION)
      .toMatchObject({ code: 3, lines: [expect.stringMatching(/has 2 partitions, the others 4/)] });
  });

  test("names brokers and a registry that do not answer, with a hint", async () => {
    const nowhere = { brokers: ["127.0.0.1:1"], connectionTimeoutMs: 500 };
    const { run, json } = commandsWith({ kafka: nowhere });
    const { code, error } = await json("verify");
    expect(code).toBe(3);
    expect(error.messages).toEqual([
      expect.stringMatching(/^connecting to the cluster: .*ECONNREFUSED.*see `kafka\.brokers`$/),
    ]);
    const muteServer = createServer((socket) => void socket.on("error", () => undefined));
    await new Promise<void>((resolve) => muteServer.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void muteServer.close());
    const at = `127.0.0.1:${(muteServer.address() as AddressInfo).port}`;
    const mute = commandsWith({ kafka: { brokers: [at], requestTimeoutMs: 200 } });
    for (const args of [["verify"], ["topics", "plan"]]) {
      const { stderr } = await mute.run(...args);
      expect(stderr).toContain(`the server at ${at} does not answer as Kafka does, see \`kafka.`);
    }

    const url = "http://127.0.0.1:1/";
    const alone = commandsWith({ kafka: nowhere, registry: { url } });
    const checked = await alone.run("schemas", "check");
    expect(checked).toMatchObject({ code: 3, stdout: "" });
    expect(checked.stderr).toMatch(/ECONNREFUSED.*see `registry\.url`\n$/);
    expect(await run("schemas", "check")).toMatchObject({ code: 2 });
  });
});
