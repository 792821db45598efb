// Gates that share the partitions of a real broker, come, go and die while calls are proposed.
import { describe, expect, it, onTestFinished } from "vitest";
import type { TopicNames } from "../../../services/adapters/kafka/topics/topic-names.ts";
import type { KafkaGate } from "../../../services/gate/open-kafka-gate.ts";
import { kafkaBackend } from "../../support/backends/kafka-backend.ts";
import { uniqueName } from "../../support/backends/unique-name.ts";
import { makeTopics, openTestLog } from "../../support/kafka/test-cluster.ts";
import {
  type Decided,
  isReady,
  JOURNAL_RETENTION,
  Load,
  openTestGate,
  ownedBy,
  propose,
  type TestGateChoices,
  untilDecided,
  untilReady,
} from "../../support/kafka/test-gate.ts";
import { createTestLogger, type LoggedLine, until } from "../../support/runtime-kit.ts";

const kafka = await kafkaBackend();

type Choices = Omit<TestGateChoices, "group">;

async function start(names: TopicNames, group: string, choices: Choices = {}): Promise<KafkaGate> {
  const gate = await openTestGate(kafka.brokers, names, { group, ...choices });
  onTestFinished(() => gate.stop());
  await gate.host.start();
  return gate;
}

async function makeWorld(partitions: number) {
  const names = await makeTopics(kafka.brokers, { partitions, config: JOURNAL_RETENTION });
  const log = await openTestLog(kafka.brokers, names);
  onTestFinished(() => log.close());
  return { names, log, group: uniqueName("gates") };
}

function expectEachOnce({ byCall, problems, proposals }: Decided, count: number): void {
  expect(problems).toEqual([]);
  expect(proposals).toBe(count);
  expect(byCall.size).toBe(count);
  expect([...byCall.values()].filter((types) => types.length !== 1)).toEqual([]);
}

describe.skipIf(!kafka.available)(`gates on a real broker ${kafka.reason}`, () => {
  it("decide proposals from before and after their start", async () => {
    const { names, log, group } = await makeWorld(3);
    await propose(log, 0, 50);
    const gate = await start(names, group);
    await untilReady(gate);
    expect(ownedBy(gate)).toEqual([0, 1, 2]);
    await propose(log, 50, 50);
    expectEachOnce(await untilDecided(log, 100), 100);
  });

  it("go on at their offsets after a restart", async () => {
    const { names, log, group } = await makeWorld(2);
    const first = await start(names, group);
    await propose(log, 0, 40);
    await untilDecided(log, 40);
    await first.stop();
    expect(first.host.status()).toMatchObject({ ready: false, joined: false, partitions: [] });
    await propose(log, 40, 40);
    const second = await start(names, group);
    await untilReady(second);
    expectEachOnce(await untilDecided(log, 80), 80);
  });

  it("decide every call once while they come and go under load", async () => {
    const { names, log, group } = await makeWorld(4);
    const load = new Load(log);
    const first = await start(names, group);
    await untilReady(first);
    const second = await start(names, group);
    await until(() => ownedBy(first).length === 2 && isReady(first) && isReady(second));
    expect([...ownedBy(first), ...ownedBy(second)].sort()).toEqual([0, 1, 2, 3]);
    const third = await start(names, group);
    await until(() => [first, second, third].every((one) => ownedBy(one).length > 0));
    await untilReady(first, second, third);
    await first.stop();
    await until(() => ownedBy(second).length === 2 && ownedBy(third).length === 2);
    await untilReady(second, third);
    await second.stop();
    await until(() => ownedBy(third).length === 4 && isReady(third));
    const count = await load.stop();
    expectEachOnce(await untilDecided(log, count), count);
  });

  it("retain the task of a partition that stays theirs when another gate joins", async () => {
    const { names, group } = await makeWorld(2);
    const counts = new Map<string, number>();
    const first = await start(names, group, { counts });
    await untilReady(first);
    expect(counts.get("take_overs")).toBe(2);
    const second = await start(names, group);
    await until(() => ownedBy(first).length === 1);
    await untilReady(first, second);
    expect(counts.get("take_overs")).toBe(2);
  });

  it("build the states of partitions that they may get before they join, and read only the rest later", async () => {
    const { names, log, group } = await makeWorld(4);
    const first = await start(names, group);
    await untilReady(first);
    await propose(log, 0, 200);
    await untilDecided(log, 200);
    const lines: LoggedLine[] = [];
    const second = await start(names, group, { logger: createTestLogger(lines) });
    await untilReady(first, second);
    await propose(log, 200, 40);
    await untilDecided(log, 240);
    await first.stop();
    await until(() => ownedBy(second).length === 4 && isReady(second));
    await propose(log, 240, 40);
    expectEachOnce(await untilDecided(log, 280), 280);
    const restored = lines.filter(({ message }) => message === "a partition was restored");
    expect(restored.map(({ fields }) => fields["source"])).toEqual(Array(4).fill("inMemory"));
    const read = restored.map(({ fields }) => Number(fields["replayed"]));
    expect(read.reduce((sum, one) => sum + one, 0)).toBeLessThan(200);
  });

  it("leave at once when stopped twice", async () => {
    const { names, group } = await makeWorld(1);
    const gate = await start(names, group);
    await untilReady(gate);
    await Promise.all([gate.stop(), gate.stop()]);
    expect(isReady(gate)).toBe(false);
  });

  it("report all wrong topics at once", async () => {
    const names = await makeTopics(kafka.brokers, {
      config: { "retention.ms": "3600000", "message.timestamp.type": "CreateTime" },
    });
    const opening = openTestGate(kafka.brokers, names, { group: uniqueName("gates") });
    await expect(opening).rejects.toThrow("message.timestamp.type");
    await expect(opening).rejects.toThrow(`\`${names.decisions}\` is kept for 3600000 ms`);
    const missing = { ...names, held: `${names.held}-not-there` };
    const other = openTestGate(kafka.brokers, missing, { group: uniqueName("gates") });
    await expect(other).rejects.toThrow(`\`${missing.held}\` does not exist`);
  });
});
