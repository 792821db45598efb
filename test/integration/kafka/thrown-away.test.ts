// What a discarded producer still does.
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import type { OutgoingRecord } from "../../../services/runtime/ports.ts";
import { kafkaBackend } from "../../support/backends/kafka-backend.ts";
import { makeTopics, openTestLog } from "../../support/kafka/test-cluster.ts";
import { ownAlone } from "../../support/kafka/test-ownership.ts";
import {
  CLUSTER_AUTHORIZATION_FAILED,
  INVALID_REQUEST,
  NOT_ENOUGH_REPLICAS,
  refuseProduce,
  refuseProducerId,
} from "../../support/kafka-proxy/answers.ts";
import { KafkaProxy } from "../../support/kafka-proxy/kafka-proxy.ts";

const kafka = await kafkaBackend();
const TRANSACTION_TIMEOUT_MS = 500;
/** Several times kafkajs' pause before a retry. */
const WATCHED_MS = 1_500;
/** Long enough for a transaction on a busy machine. */
const SOON_MS = 4_000;
const NEVER_MS = 120_000;
const CONSUMED = { proposals: 0, results: 0, verdicts: 0 };
const RECORD: OutgoingRecord = {
  ...{ topic: "decisions", partition: 0, key: null },
  value: Buffer.from("d"),
};

const PROPOSAL: OutgoingRecord = { ...RECORD, topic: "proposals" };

async function openBehind() {
  const names = await makeTopics(kafka.brokers);
  const proxy = await KafkaProxy.start(kafka.brokers);
  onTestFinished(() => proxy.close());
  const log = await openTestLog(proxy.brokers, names);
  onTestFinished(() => log.close());
  return { proxy, log };
}

describe.skipIf(!kafka.available)(`a discarded producer ${kafka.reason}`, () => {
  it("sends nothing again, and leaves no connection", async () => {
    const names = await makeTopics(kafka.brokers);
    const proxy = await KafkaProxy.start(kafka.brokers);
    onTestFinished(() => proxy.close());
    const transactionTimeoutMs = TRANSACTION_TIMEOUT_MS;
    const ownership = ownAlone(proxy.brokers, names, { transactionTimeoutMs });
    onTestFinished(() => ownership.close());
    proxy.arm({
      api: "Produce",
      times: Number.POSITIVE_INFINITY,
      deed: { type: "answer", make: (frame) => refuseProduce(frame, NOT_ENOUGH_REPLICAS) },
    });
    const writer = await ownership.takeOver(0);
    const { type } = await writer.commit({ records: [RECORD], consumed: CONSUMED });
    expect(type).toBe("failed");
    await writer.close();
    await expect.poll(() => proxy.connections).toBe(0);
    const sent = proxy.seen("Produce");
    await sleep(WATCHED_MS);
    expect(proxy.seen("Produce")).toBe(sent);
    expect(proxy.connections).toBe(0);
  });

  it.each(["AddPartitionsToTxn", "AddOffsetsToTxn"] as const)(
    "delays no later producer by its pending %s request",
    async (api) => {
      const names = await makeTopics(kafka.brokers);
      const proxy = await KafkaProxy.start(kafka.brokers);
      onTestFinished(() => proxy.close());
      const ownership = ownAlone(proxy.brokers, names, {
        transactionTimeoutMs: SOON_MS,
        requestTimeoutMs: NEVER_MS,
      });
      onTestFinished(() => ownership.close());
      const writer = await ownership.takeOver(0);
      proxy.arm({ api, deed: { type: "swallow" } });
      const batch = { records: [RECORD], consumed: CONSUMED };
      expect((await writer.commit(batch)).type).toBe("failed");
      const next = await ownership.takeOver(0);
      expect((await next.commit(batch)).type).toBe("committed");
    },
  );

  it("leaves no connection where the broker refused its id", async () => {
    const { proxy, log } = await openBehind();
    await log.endOffset("proposals", 0);
    const before = proxy.connections;
    const make = (): Buffer => refuseProducerId(CLUSTER_AUTHORIZATION_FAILED);
    proxy.arm({ api: "InitProducerId", deed: { type: "answer", make } });
    await expect(log.append([PROPOSAL])).rejects.toMatchObject({ code: "log_unreadable" });
    await expect.poll(() => proxy.connections).toBe(before);
  });

  it("reports an unknown outcome where an answer was lost before it failed", async () => {
    const { proxy, log } = await openBehind();
    proxy.arm({ api: "Produce", deed: { type: "cut-after" } });
    const make = (frame: Buffer): Buffer => refuseProduce(frame, INVALID_REQUEST);
    proxy.arm({ api: "Produce", deed: { type: "answer", make } });
    await expect(log.append([PROPOSAL])).rejects.toMatchObject({ code: "outcome_unknown" });
    expect(await log.endOffset("proposals", 0)).toBe(1);
  });
});
