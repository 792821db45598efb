// Topics that changed since the gates last ran, and other programs in the gates' group.
import type { Admin } from "kafkajs";
import { describe, expect, it, onTestFinished } from "vitest";
import { topicNames } from "../../../services/adapters/kafka/topics/topic-names.ts";
import { GATE_TOPICS } from "../../../services/gate/start-checks.ts";
import type { Topic } from "../../../services/runtime/topics.ts";
import { kafkaBackend } from "../../support/backends/kafka-backend.ts";
import { uniqueName } from "../../support/backends/unique-name.ts";
import { connectKafka, createTopics, openTestLog } from "../../support/kafka/test-cluster.ts";
import {
  JOURNAL_RETENTION,
  openTestGate,
  propose,
  untilDecided,
} from "../../support/kafka/test-gate.ts";
import { makeWorld, startCounted, untilTaken, type World } from "../../support/kafka/two-owners.ts";
import { until } from "../../support/runtime-kit.ts";

const kafka = await kafkaBackend();

async function admin(): Promise<Admin> {
  const made = connectKafka(kafka.brokers).admin();
  await made.connect();
  onTestFinished(() => made.disconnect());
  return made;
}

/** Creates topics and decides some calls; no gate runs afterwards. */
async function makeUsedWorld(partitions: number): Promise<World> {
  const world = await makeWorld(kafka.brokers, partitions);
  const { gate } = await startCounted(world);
  await propose(world.log, 0, 40);
  await untilDecided(world.log, 40);
  await gate.stop();
  return world;
}

async function makeAgain({ names }: World, topics: readonly Topic[]): Promise<void> {
  const list = topics.map((topic) => names[topic]);
  const client = await admin();
  await client.deleteTopics({ topics: list });
  const exist = async () => new Set(await client.listTopics());
  for (let left = await exist(); list.some((name) => left.has(name)); ) left = await exist();
  await createTopics(kafka.brokers, list, { partitions: 2, config: JOURNAL_RETENTION });
}

/** Starts a gate and returns the error that ends it; it decides nothing before. */
async function reasonOfEnd({ names, group }: World): Promise<string> {
  const gate = await openTestGate(kafka.brokers, names, {
    group,
    tuning: { offsetsGraceMs: 1_500 },
  });
  onTestFinished(() => gate.stop());
  const log = await openTestLog(kafka.brokers, names);
  onTestFinished(() => log.close());
  const ends = () =>
    Promise.all([...Array(log.partitions).keys()].map((at) => log.endOffset("decisions", at)));
  const before = await ends();
  await gate.host.start();
  const { message } = await gate.host.failed;
  expect(await ends()).toEqual(before);
  return message;
}

describe.skipIf(!kafka.available)(`topics that changed meanwhile ${kafka.reason}`, () => {
  it("are refused where all got more partitions while no gate ran", async () => {
    const world = await makeUsedWorld(2);
    const topicPartitions = Object.values(world.names).map((topic) => ({ topic, count: 4 }));
    await (await admin()).createPartitions({ topicPartitions });
    await untilEnlarged(world, 4);
    const message = await reasonOfEnd(world);
    expect(message).toContain("had 2 partitions when the gates last ran and now have 4");
    expect(message).toContain("under another prefix");
  });

  it.each(["proposals", "decisions"] as const)(
    "are refused where %s was deleted and created again under the same name",
    async (topic) => {
      const world = await makeUsedWorld(2);
      await makeAgain(world, [topic]);
      const message = await reasonOfEnd(world);
      expect(message).toContain(`\`${world.names[topic]}\` was deleted and created again`);
    },
  );

  it("begin anew where all topics were created again", async () => {
    const world = await makeUsedWorld(2);
    await makeAgain(world, Object.keys(world.names) as Topic[]);
    const log = await openTestLog(kafka.brokers, world.names);
    onTestFinished(() => log.close());
    const { gate } = await startCounted(world);
    await propose(log, 0, 20);
    expect((await untilDecided(log, 20)).problems).toEqual([]);
    await gate.stop();
  });

  it("need no topic of alerts, which the gate does not use", async () => {
    const names = topicNames(uniqueName("t"));
    const used = GATE_TOPICS.map((topic) => names[topic]);
    await createTopics(kafka.brokers, used, { partitions: 1, config: JOURNAL_RETENTION });
    const log = await openTestLog(kafka.brokers, names, { topics: GATE_TOPICS });
    onTestFinished(() => log.close());
    const gate = await openTestGate(kafka.brokers, names, { group: uniqueName("g") });
    onTestFinished(() => gate.stop());
    await gate.host.start();
    await propose(log, 0, 5);
    expect((await untilDecided(log, 5)).problems).toEqual([]);
    expect(await (await admin()).listTopics()).not.toContain(names.alerts);
  });

  it("are refused where another program has committed for the group", async () => {
    const world = await makeUsedWorld(1);
    await (await admin()).setOffsets({
      groupId: world.group,
      topic: world.names.proposals,
      partitions: [{ partition: 0, offset: "1000" }],
    });
    expect(await reasonOfEnd(world)).toContain("find out who else commits for this group");
  });

  it("keep their owner where a consumer with another protocol wants to join the group", async () => {
    const world = await makeWorld(kafka.brokers, 1);
    const own = await startCounted(world);
    await untilTaken(own);
    const consumer = connectKafka(kafka.brokers, { clientId: "foreign" }).consumer({
      groupId: world.group,
      retry: { retries: 0, restartOnFailure: async () => false },
    });
    onTestFinished(() => consumer.disconnect());
    const crashed: string[] = [];
    consumer.on(consumer.events.CRASH, ({ payload: { error } }) => crashed.push(error.message));
    await consumer.connect();
    await consumer.subscribe({ topics: [world.names.proposals] });
    await consumer.run({ eachMessage: () => Promise.resolve() });
    await until(() => crashed.length > 0);
    await propose(world.log, 0, 10);
    await untilDecided(world.log, 10);
    expect(own.gate.host.status().ready).toBe(true);
  });
});

async function untilEnlarged({ names }: World, partitions: number): Promise<void> {
  for (;;) {
    const log = await openTestLog(kafka.brokers, names).catch(() => null);
    await log?.close();
    if (log?.partitions === partitions) return;
  }
}
