import { describe } from "vitest";
import { kafkaBackend } from "../../support/backends/kafka-backend.ts";
import { makeTopics, openTestLog } from "../../support/kafka/test-cluster.ts";
import { ownAlone } from "../../support/kafka/test-ownership.ts";
import { describeLogContract } from "./log.contract.ts";

const kafka = await kafkaBackend();

describe.skipIf(!kafka.available)(`on a real broker ${kafka.reason}`, () => {
  describeLogContract("in Kafka", async () => {
    const names = await makeTopics(kafka.brokers);
    const log = await openTestLog(kafka.brokers, names);
    const ownership = ownAlone(kafka.brokers, names);
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
