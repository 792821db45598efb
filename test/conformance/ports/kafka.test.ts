import { describe } from "vitest";
import { KafkaOwnership } from "../../../services/adapters/kafka/kafka-ownership.ts";
import { ALL_KAFKA_SAFEGUARDS } from "../../../services/adapters/kafka/kafka-safeguards.ts";
import { kafkaBackend } from "../../support/backends/kafka-backend.ts";
import { uniqueName } from "../../support/backends/unique-name.ts";
import { connectKafka, makeTopics, openTestLog } from "../../support/kafka/test-cluster.ts";
import { describeLogContract } from "./log.contract.ts";

const kafka = await kafkaBackend();
const BATCH_BYTES_MAX = 1024 * 1024;

describe.skipIf(!kafka.available)(`on a real broker ${kafka.reason}`, () => {
  describeLogContract("in Kafka", async () => {
    const names = await makeTopics(kafka.brokers);
    const log = await openTestLog(kafka.brokers, names);
    const ownership = new KafkaOwnership({
      settings: {
        app: uniqueName("app"),
        group: uniqueName("group"),
        transactionTimeoutMs: 10_000,
      },
      names,
      newKafka: () => connectKafka(kafka.brokers),
      // Who owns what is not the matter here: every number is ours for as long as nobody fences us.
      membership: {
        grantOf: (partition) => ({ partition, epoch: 1 }),
        isCurrent: () => true,
        confirm: async () => true,
      },
      messageBytesMax: () => BATCH_BYTES_MAX,
      metrics: { count: () => undefined, observe: () => undefined },
      safeguards: ALL_KAFKA_SAFEGUARDS,
    });
    return {
      log,
      ownership,
      close: async () => {
        await ownership.close();
        await log.close();
      },
    };
  });
});
