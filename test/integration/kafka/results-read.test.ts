// What a new owner of a partition learns from the results while a transaction of somebody else is open in them.
import { describe, expect, it, onTestFinished } from "vitest";
import { RETRY } from "../../../services/adapters/kafka/client.ts";
import { readResults } from "../../../services/executor/read-results.ts";
import { kafkaBackend } from "../../support/backends/kafka-backend.ts";
import { uniqueName } from "../../support/backends/unique-name.ts";
import { connectKafka, makeTopics, openTestLog } from "../../support/kafka/test-cluster.ts";
import { testCodec } from "../../support/kafka/test-gate.ts";

const kafka = await kafkaBackend();
/** Long enough for a reader that does not wait to have ended. */
const OPEN_MS = 1_500;

const STARTED = Buffer.from(
  testCodec.encodeResult({
    type: "result",
    ...{ tenantId: "t", conversationId: "c", callId: "1", decisionId: "d", status: "started" },
    ...{ output: null, outputDigest: null, outputBytes: null, error: null },
    ...{ durationMs: null, cost: null, executorId: "before" },
  }),
);

describe.skipIf(!kafka.available)(`the results of a partition ${kafka.reason}`, () => {
  it("tell of a call that was started behind an open transaction of another group", async () => {
    const names = await makeTopics(kafka.brokers, { partitions: 1 });
    const log = await openTestLog(kafka.brokers, names);
    onTestFinished(() => log.close());
    const other = connectKafka(kafka.brokers).producer({
      transactionalId: uniqueName("other"),
      idempotent: true,
      maxInFlightRequests: 1,
      retry: RETRY,
    });
    await other.connect();
    onTestFinished(() => other.disconnect());
    const transaction = await other.transaction();
    await transaction.send({ topic: names.results, messages: [{ value: STARTED, partition: 0 }] });
    await log.append([{ topic: "results", partition: 0, key: "t/c", value: STARTED }]);
    const source = { log, codec: testCodec, partition: 0, sinceMs: 0 };
    const summary = readResults(source, () => false);
    await new Promise((resolve) => setTimeout(resolve, OPEN_MS));
    await transaction.abort();
    expect([...(await summary).reportedIds]).toEqual(["d"]);
  });
});
