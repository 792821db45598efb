// Each fault of kafkajs that a rule of ours guards against: with the guard nothing happens, without it
// the fault shows.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { KafkaLog } from "../../../services/adapters/kafka/kafka-log.ts";
import type { TopicNames } from "../../../services/adapters/kafka/topic-names.ts";
import type { OutgoingRecord } from "../../../services/runtime/ports.ts";
import type { Topic } from "../../../services/runtime/topics.ts";
import { kafkaBackend } from "../../support/backends/kafka-backend.ts";
import { makeTopics, openTestLog, readAll } from "../../support/kafka/test-cluster.ts";
import {
  commitWhileLeaderMoves,
  commitWhileOneRefuses,
  type TwoLeaders,
} from "../../support/kafka/two-leaders.ts";
import { KafkaProxy } from "../../support/kafka-proxy/kafka-proxy.ts";

const kafka = await kafkaBackend();
/** So short that an answer that never comes is soon given up. */
const REQUEST_TIMEOUT_MS = 2_500;
/** Many times what kafkajs waits before it sends again. */
const HELD_MS = 500;

const record = (topic: Topic, value: string, partition = 0): OutgoingRecord => ({
  ...{ topic, partition, key: null },
  value: Buffer.from(value),
});

describe.skipIf(!kafka.available)(`faults of kafkajs ${kafka.reason}`, () => {
  let names: TopicNames;
  let reader: KafkaLog;
  const opened: { close(): Promise<void> }[] = [];

  const startProxy = async (): Promise<KafkaProxy> => {
    const proxy = await KafkaProxy.start(kafka.brokers);
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
    const proxy = await startProxy();
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

  const twoLeaders = (): TwoLeaders => ({ ...{ brokers: kafka.brokers, names, reader }, opened });

  it("sends what has another leader meanwhile to that one", async () => {
    expect(await commitWhileLeaderMoves(twoLeaders())).toBe("committed");
    expect([await values("decisions"), await values("allowed")]).toEqual([
      ["before", "d"],
      ["before", "a"],
    ]);
  });

  it("writes once what one broker writes while another refuses its part", async () => {
    expect(await commitWhileOneRefuses(twoLeaders(), HELD_MS)).toBe("committed");
    expect([await values("decisions"), await values("allowed")]).toEqual([
      ["before", "d"],
      ["before", "a"],
    ]);
  });

  it("sends a record again to the partition that it was for (K9)", async () => {
    const proxy = await startProxy();
    const log = await openTestLog(proxy.brokers, names, { requestTimeoutMs: REQUEST_TIMEOUT_MS });
    opened.push(log);
    proxy.arm({ api: "Produce", deed: { type: "swallow" } });
    await log.append([record("proposals", "once", 1)]);
    expect([await values("proposals", 0), await values("proposals", 1)]).toEqual([[], ["once"]]);
  });
});
