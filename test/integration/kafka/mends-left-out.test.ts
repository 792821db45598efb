// A process of its own: kafkajs is loaded once, with or without its mends.
import { describe, expect, it } from "vitest";
import { loadKafkajs } from "../../../services/adapters/kafka/mends.ts";
import { kafkaBackend } from "../../support/backends/kafka-backend.ts";
import { lookupsIn } from "../../support/kafka/count-lookups.ts";
import { connectKafka, makeTopics } from "../../support/kafka/test-cluster.ts";
import { KafkaProxy } from "../../support/kafka-proxy/kafka-proxy.ts";

loadKafkajs(["coordinator-cache"]);
const kafka = await kafkaBackend();

describe.skipIf(!kafka.available)(`kafkajs without mends ${kafka.reason}`, () => {
  it("would look for its coordinators four times in every transaction (K20)", async () => {
    const names = await makeTopics(kafka.brokers);
    const proxy = await KafkaProxy.start(kafka.brokers);
    const client = connectKafka(proxy.brokers);
    expect(await lookupsIn(10, client, proxy, names.proposals)).toBeGreaterThanOrEqual(40);
    await proxy.close();
  });
});
