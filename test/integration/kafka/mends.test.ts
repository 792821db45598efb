import { describe, expect, it } from "vitest";
import { kafkaBackend } from "../../support/backends/kafka-backend.ts";
import { lookupsIn } from "../../support/kafka/count-lookups.ts";
import { connectKafka, makeTopics } from "../../support/kafka/test-cluster.ts";
import { KafkaProxy } from "../../support/kafka-proxy/kafka-proxy.ts";

const kafka = await kafkaBackend();

describe.skipIf(!kafka.available)(`kafkajs mended ${kafka.reason}`, () => {
  it("looks for its coordinators once, not in every transaction", async () => {
    const names = await makeTopics(kafka.brokers);
    const proxy = await KafkaProxy.start(kafka.brokers);
    const client = connectKafka(proxy.brokers);
    expect(await lookupsIn(10, client, proxy, names.proposals)).toBeLessThanOrEqual(2);
    await proxy.close();
  });

  it("finds a coordinator again whose connection was lost", async () => {
    const names = await makeTopics(kafka.brokers);
    const proxy = await KafkaProxy.start(kafka.brokers);
    proxy.arm({ api: "AddPartitionsToTxn", deed: { type: "cut-before" } });
    const client = connectKafka(proxy.brokers);
    expect(await lookupsIn(3, client, proxy, names.proposals)).toBeLessThanOrEqual(2);
    expect(proxy.seen("AddPartitionsToTxn")).toBeGreaterThan(4);
    await proxy.close();
  });
});
