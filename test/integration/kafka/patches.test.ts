import type { Kafka } from "kafkajs";
import { describe, expect, it, vi } from "vitest";
import { kafkaBackend } from "../../support/backends/kafka-backend.ts";
import { lookupsIn } from "../../support/kafka/count-lookups.ts";
import { kafkajsClient } from "../../support/kafka/kafkajs-copy.ts";
import { connectKafka, makeTopics } from "../../support/kafka/test-cluster.ts";
import { KafkaProxy } from "../../support/kafka-proxy/kafka-proxy.ts";

const kafka = await kafkaBackend();
const LARGE_BYTES = 600 * 1024;

describe.skipIf(!kafka.available)(`kafkajs patched ${kafka.reason}`, () => {
  it("looks up its coordinators once, not in every transaction", async () => {
    const names = await makeTopics(kafka.brokers);
    const proxy = await KafkaProxy.start(kafka.brokers);
    const lookups = (kafka: Kafka) => lookupsIn(10, kafka, proxy, names.proposals);
    expect(await lookups(connectKafka(proxy.brokers))).toBeLessThanOrEqual(2);
    // The published kafkajs makes four lookups in each (KAFKA-20).
    expect(await lookups(kafkajsClient(proxy.brokers))).toBeGreaterThanOrEqual(40);
    await proxy.close();
  });

  it("looks up a coordinator again after a lost connection", async () => {
    const names = await makeTopics(kafka.brokers);
    const proxy = await KafkaProxy.start(kafka.brokers);
    proxy.arm({ api: "AddPartitionsToTxn", deed: { type: "cut-before" } });
    const client = connectKafka(proxy.brokers);
    expect(await lookupsIn(3, client, proxy, names.proposals)).toBeLessThanOrEqual(2);
    expect(proxy.seen("AddPartitionsToTxn")).toBeGreaterThan(4);
    await proxy.close();
  });

  it("sends large requests without a copy into zeroed memory", async () => {
    const names = await makeTopics(kafka.brokers);
    const producer = connectKafka(kafka.brokers).producer({ idempotent: true });
    await producer.connect();
    const value = Buffer.alloc(LARGE_BYTES);
    const made = vi.spyOn(Buffer, "alloc");
    await producer.send({ topic: names.proposals, messages: [{ partition: 0, value }] });
    const largest = Math.max(...made.mock.calls.map(([bytes]) => bytes));
    made.mockRestore();
    expect(largest).toBeLessThan(LARGE_BYTES);
    await producer.disconnect();
  });
});
