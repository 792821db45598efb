// A producer whose send has failed for good by its answer, although the broker has written it.
import { expect } from "vitest";
import { uniqueName } from "../backends/unique-name.ts";
import { failFirst, INVALID_REQUEST } from "../kafka-proxy/answers.ts";
import { KafkaProxy } from "../kafka-proxy/kafka-proxy.ts";
import { connectKafka } from "./test-cluster.ts";
import type { TwoLeaders } from "./two-leaders.ts";

/**
 * Aborts a transaction whose send has failed, sends `next` in another one, and commits it if it was
 * sent.
 */
export async function sendAfterFailed({ brokers, names, opened }: TwoLeaders): Promise<void> {
  const proxy = await KafkaProxy.start(brokers);
  opened.unshift(proxy);
  const transactionalId = uniqueName("writer");
  const producer = connectKafka(proxy.brokers).producer({ transactionalId, idempotent: true });
  await producer.connect();
  opened.push({ close: () => producer.disconnect() });
  const begin = async (value: string) => {
    const transaction = await producer.transaction();
    const messages = [{ value, partition: 0 }];
    const topicMessages = [names.proposals, names.results].map((topic) => ({ topic, messages }));
    return { transaction, send: () => transaction.sendBatch({ topicMessages }) };
  };
  const failed = await begin("aborted");
  const edit = (answer: Buffer): Buffer => failFirst(answer, INVALID_REQUEST);
  proxy.arm({ api: "Produce", deed: { type: "edit", edit } });
  await expect(failed.send()).rejects.toThrow();
  await failed.transaction.abort();
  const { transaction, send } = await begin("next");
  try {
    await send();
  } catch (error) {
    await transaction.abort();
    throw error;
  }
  await transaction.commit();
}
