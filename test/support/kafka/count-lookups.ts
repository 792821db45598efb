import type { Kafka } from "kafkajs";
import { uniqueName } from "../backends/unique-name.ts";
import type { KafkaProxy } from "../kafka-proxy/kafka-proxy.ts";

/** Counts look-ups of coordinators in transactions after the first one. */
export async function lookupsIn(
  transactions: number,
  kafka: Kafka,
  proxy: KafkaProxy,
  topic: string,
): Promise<number> {
  const producer = kafka.producer({
    transactionalId: uniqueName("writer"),
    idempotent: true,
    maxInFlightRequests: 1,
    retry: { initialRetryTime: 3, maxRetryTime: 250, retries: 40 },
    createPartitioner: () => () => 0,
  });
  await producer.connect();
  const groupId = uniqueName("group");
  const run = async (): Promise<void> => {
    const transaction = await producer.transaction();
    await transaction.send({ topic, messages: [{ value: "v", partition: 0 }] });
    const partitions = [{ partition: 0, offset: "1" }];
    await transaction.sendOffsets({ consumerGroupId: groupId, topics: [{ topic, partitions }] });
    await transaction.commit();
  };
  await run();
  const before = proxy.seen("FindCoordinator");
  for (let at = 0; at < transactions; at += 1) await run();
  const after = proxy.seen("FindCoordinator");
  await producer.disconnect();
  return after - before;
}
