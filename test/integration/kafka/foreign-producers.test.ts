// Producers of another library: librdkafka, through its Python client.
import { describe, expect, it, onTestFinished } from "vitest";
import { ClusterLink } from "../../../services/adapters/kafka/cluster-link.ts";
import { KafkaTopicInspector } from "../../../services/adapters/kafka/topics/topic-inspector.ts";
import { findStrayInputs } from "../../../services/cli/cluster/stray-inputs.ts";
import { kafkaBackend } from "../../support/backends/kafka-backend.ts";
import { uniqueName } from "../../support/backends/unique-name.ts";
import { connectKafka, makeTopics, openTestLog } from "../../support/kafka/test-cluster.ts";
import {
  JOURNAL_RETENTION,
  openTestGate,
  readDecided,
  untilDecided,
  untilReady,
} from "../../support/kafka/test-gate.ts";
import { findPython } from "../../support/python/python.ts";

const kafka = await kafkaBackend();
const python = await findPython();
const CODECS = ["none", "gzip", "snappy", "lz4", "zstd"];
const COUNT = 50;

async function openWorld(partitions = 2) {
  const names = await makeTopics(kafka.brokers, { partitions, config: JOURNAL_RETENTION });
  const counts = new Map<string, number>();
  const log = await openTestLog(kafka.brokers, names);
  onTestFinished(() => log.close());
  const gate = await openTestGate(kafka.brokers, names, { group: uniqueName("gates"), counts });
  onTestFinished(() => gate.stop());
  await gate.host.start();
  await untilReady(gate);
  return { names, log, counts };
}

const isReady = kafka.available && python.available;

describe.skipIf(!isReady)(`producers in Python ${kafka.reason}${python.reason}`, () => {
  it("compress with any codec, and each of their calls is decided", async () => {
    const { names, log } = await openWorld();
    for (const [index, codec] of CODECS.entries()) {
      const options = {
        brokers: kafka.brokers.join(","),
        topic: names.proposals,
        ...{ from: index * COUNT, count: COUNT },
        settings: { "compression.type": codec, partitioner: "murmur2_random", "linger.ms": 50 },
      };
      await python.run("produce.py", JSON.stringify(options));
    }
    const { byCall, proposals, problems } = await untilDecided(log, CODECS.length * COUNT);
    expect(problems).toEqual([]);
    expect([proposals, byCall.size]).toEqual([CODECS.length * COUNT, CODECS.length * COUNT]);
    expect(new Set([...byCall.values()].flat())).toEqual(new Set(["allowed"]));
  });

  it("hash keys in librdkafka's own way, and each of their calls is decided once in order", async () => {
    const { names, log, counts } = await openWorld(4);
    const brokers = kafka.brokers.join(",");
    const options = { brokers, topic: names.proposals, from: 0, count: 200 };
    await python.run("produce.py", JSON.stringify(options));
    await expect.poll(() => counts.get("decisions"), { timeout: 30_000 }).toBe(200);
    const { byCall, problems } = await readDecided(log);
    expect(problems).toEqual([]);
    expect([...byCall.values()].filter((types) => types.join() !== "allowed")).toEqual([]);
    expect(byCall.size).toBe(200);
    expect(counts.get("forwarded_inputs")).toBeGreaterThan(100);
    const link = new ClusterLink(connectKafka(kafka.brokers), Object.values(names), 10_000);
    onTestFinished(() => link.close());
    await link.connect();
    const facts = await new KafkaTopicInspector(
      () => connectKafka(kafka.brokers),
      names,
    ).describe();
    const [line, ...others] = await findStrayInputs(link, facts);
    expect(others).toEqual([]);
    expect(line).toMatch(/proposed.*of its latest .*tenants: t\).*murmur2_random/);
    // Calls were proposed in the order of their numbers, so each conversation must decide them so.
    const numbers = [...byCall.keys()].map((callId) => Number(callId.split("-")[1]));
    for (let conversation = 0; conversation < 20; conversation += 1) {
      const own = numbers.filter((number) => number % 20 === conversation);
      expect(own).toEqual([...own].sort((a, b) => a - b));
    }
  });
});
