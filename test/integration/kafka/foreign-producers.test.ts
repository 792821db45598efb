// Producers of another library: librdkafka, through its Python client.
import { describe, expect, it, onTestFinished } from "vitest";
import { kafkaBackend } from "../../support/backends/kafka-backend.ts";
import { uniqueName } from "../../support/backends/unique-name.ts";
import { makeTopics, openTestLog } from "../../support/kafka/test-cluster.ts";
import {
  JOURNAL_RETENTION,
  openTestGate,
  untilDecided,
  untilReady,
} from "../../support/kafka/test-gate.ts";
import { findPython } from "../../support/python/python.ts";

const kafka = await kafkaBackend();
const python = await findPython();
const CODECS = ["none", "gzip", "snappy", "lz4", "zstd"];
const COUNT = 50;

async function openWorld() {
  const names = await makeTopics(kafka.brokers, { config: JOURNAL_RETENTION });
  const log = await openTestLog(kafka.brokers, names);
  onTestFinished(() => log.close());
  const gate = await openTestGate(kafka.brokers, names, { group: uniqueName("gates") });
  onTestFinished(() => gate.stop());
  await gate.host.start();
  await untilReady(gate);
  return { names, log };
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
});
