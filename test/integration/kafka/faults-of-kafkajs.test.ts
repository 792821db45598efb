// Each fault of kafkajs that a rule of ours guards against: with the guard nothing happens, without it
// the fault shows.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { KafkaLog } from "../../../services/adapters/kafka/kafka-log.ts";
import type { KafkaOwnership } from "../../../services/adapters/kafka/kafka-ownership.ts";
import type { TopicNames } from "../../../services/adapters/kafka/topic-names.ts";
import type { OutgoingRecord, PartitionWriter } from "../../../services/runtime/ports.ts";
import type { Topic } from "../../../services/runtime/topics.ts";
import { kafkaBackend } from "../../support/backends/kafka-backend.ts";
import {
  connectKafka,
  makeTopics,
  openTestLog,
  readAll,
} from "../../support/kafka/test-cluster.ts";
import { ownAlone } from "../../support/kafka/test-ownership.ts";
import { KafkaProxy } from "../../support/kafka-proxy/kafka-proxy.ts";
import {
  Cursor,
  int16,
  int32,
  int64,
  list,
  requestBody,
  text,
} from "../../support/kafka-proxy/wire.ts";

const kafka = await kafkaBackend();
const NOT_LEADER = 6;
const CONSUMED = { proposals: 0, results: 0, verdicts: 0 };
/** So short that an answer that never comes is soon given up. */
const REQUEST_TIMEOUT_MS = 2_500;

const record = (topic: Topic, value: string, partition = 0): OutgoingRecord => ({
  ...{ topic, partition, key: null },
  value: Buffer.from(value),
});

/** Answers a Produce request of version 7 with an error for every partition in it. */
function refuse(frame: Buffer): Buffer {
  const cursor = new Cursor(requestBody(frame));
  cursor.text();
  cursor.int16();
  cursor.int32();
  const topics = cursor.list(() => {
    const topic = cursor.text();
    const partitions = cursor.list(() => {
      const partition = cursor.int32();
      cursor.at += cursor.int32();
      const offsets = [int64(-1), int64(-1), int64(-1)];
      return Buffer.concat([int32(partition), int16(NOT_LEADER), ...offsets]);
    });
    return Buffer.concat([text(topic), list(partitions)]);
  });
  return Buffer.concat([list(topics), int32(0)]);
}

describe.skipIf(!kafka.available)(`faults of kafkajs ${kafka.reason}`, () => {
  let names: TopicNames;
  let reader: KafkaLog;
  const opened: { close(): Promise<void> }[] = [];

  const proxyOf = async (
    ...cast: Parameters<typeof KafkaProxy.start> extends [unknown, ...infer C] ? C : never
  ) => {
    const proxy = await KafkaProxy.start(kafka.brokers, ...cast);
    opened.unshift(proxy);
    return proxy;
  };

  beforeEach(async () => {
    names = await makeTopics(kafka.brokers);
    reader = await openTestLog(kafka.brokers, names);
    opened.push(reader);
  });
  afterEach(async () => {
    for (const one of opened.splice(0).reverse()) await one.close();
  });

  const values = async (topic: Topic, partition = 0): Promise<string[]> => {
    const records = await readAll(reader, topic, partition);
    return records.map(({ value }) => String(value));
  };

  /** Two appends at once; the answer to the first one that is sent never comes. */
  const appendTwo = async (oneSend: boolean): Promise<void> => {
    const proxy = await proxyOf();
    const log = await openTestLog(proxy.brokers, names, {
      requestTimeoutMs: REQUEST_TIMEOUT_MS,
      oneSend,
    });
    opened.push(log);
    await log.append([record("proposals", "first")]);
    const { struck } = proxy.arm({ api: "Produce", deed: { type: "swallow" } });
    const one = log.append([record("proposals", "a")]);
    await new Promise((resolve) => setImmediate(resolve));
    const other = log.append([record("proposals", "b")]);
    await struck;
    await Promise.all([one, other]);
  };

  it("appends once each where sends do not overlap and an answer is lost (K6)", async () => {
    await appendTwo(true);
    expect(await values("proposals")).toEqual(["first", "a", "b"]);
  });

  it("would lose one record and double another where sends overlap (K6)", async () => {
    await appendTwo(false);
    expect(await values("proposals")).toEqual(["first", "a", "a"]);
  });

  /** Whatever a first transaction waits for is over then: one may fail, and nothing of it is there. */
  const commitFirst = async (ownership: KafkaOwnership): Promise<PartitionWriter> => {
    const records = [record("decisions", "before"), record("allowed", "before")];
    for (;;) {
      const writer = await ownership.takeOver(0);
      const { type } = await writer.commit({ records, consumed: CONSUMED });
      if (type === "committed") return writer;
      expect(type).toBe("failed");
      await writer.close();
    }
  };

  /** The leader of one topic moves, while it is sent, to a broker that has answered already. */
  const commitWhileLeaderMoves = async (acknowledged: boolean): Promise<string> => {
    let leader = 12;
    const proxy = await proxyOf({
      nodes: [11, 12],
      leader: (topic) => (topic === names.allowed ? leader : 11),
    });
    const ownership = ownAlone(proxy.brokers, names, {
      safeguards: { acknowledged },
      transactionTimeoutMs: 8_000,
    });
    opened.push(ownership);
    const writer = await commitFirst(ownership);
    await reader.endOffset("allowed", 0);
    const { struck } = proxy.arm({
      api: "Produce",
      where: (_, node) => node === 11,
      deed: { type: "pass" },
    });
    proxy.arm({
      api: "Produce",
      times: Number.POSITIVE_INFINITY,
      where: (_, node) => node === 12,
      deed: {
        type: "answer",
        after: struck,
        make: (frame) => {
          leader = 11;
          return refuse(frame);
        },
      },
    });
    const records = [record("decisions", "d"), record("allowed", "a")];
    const outcome = await writer.commit({ records, consumed: CONSUMED });
    await writer.close();
    return outcome.type;
  };

  it("commits nothing where a partition was not acknowledged (K7)", async () => {
    expect(await commitWhileLeaderMoves(true)).toBe("failed");
    expect([await values("decisions"), await values("allowed")]).toEqual([["before"], ["before"]]);
  });

  it("would commit without the partition that was dropped (K7)", async () => {
    expect(await commitWhileLeaderMoves(false)).toBe("committed");
    expect([await values("decisions"), await values("allowed")]).toEqual([
      ["before", "d"],
      ["before"],
    ]);
  });

  it("sends a record again to the partition that it was for (K9)", async () => {
    const proxy = await proxyOf();
    const log = await openTestLog(proxy.brokers, names, { requestTimeoutMs: REQUEST_TIMEOUT_MS });
    opened.push(log);
    proxy.arm({ api: "Produce", deed: { type: "swallow" } });
    await log.append([record("proposals", "once", 1)]);
    expect([await values("proposals", 0), await values("proposals", 1)]).toEqual([[], ["once"]]);
  });

  it("would send it elsewhere as well where kafkajs may choose (K9)", async () => {
    const proxy = await proxyOf();
    const producer = connectKafka(proxy.brokers, { requestTimeoutMs: REQUEST_TIMEOUT_MS }).producer(
      {
        idempotent: true,
        maxInFlightRequests: 1,
      },
    );
    await producer.connect();
    opened.push({ close: () => producer.disconnect() });
    proxy.arm({ api: "Produce", deed: { type: "swallow" } });
    await producer.send({ topic: names.proposals, messages: [{ value: "once" }] });
    expect([await values("proposals", 0), await values("proposals", 1)]).toEqual([
      ["once"],
      ["once"],
    ]);
  });
});
