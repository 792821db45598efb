// What kafkajs makes of a send that it has to try again. A process of its own: kafkajs is loaded once,
// with or without its mends.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { KafkaLog } from "../../../services/adapters/kafka/kafka-log.ts";
import { loadKafkajs } from "../../../services/adapters/kafka/mends.ts";
import type { TopicNames } from "../../../services/adapters/kafka/topic-names.ts";
import type { Topic } from "../../../services/runtime/topics.ts";
import { kafkaBackend } from "../../support/backends/kafka-backend.ts";
import {
  connectKafka,
  makeTopics,
  openTestLog,
  readAll,
} from "../../support/kafka/test-cluster.ts";
import {
  commitWhileLeaderMoves,
  commitWhileOneRefuses,
  type TwoLeaders,
} from "../../support/kafka/two-leaders.ts";
import { KafkaProxy } from "../../support/kafka-proxy/kafka-proxy.ts";

loadKafkajs(["send-messages"]);
const kafka = await kafkaBackend();
/** So short that an answer that never comes is soon given up. */
const REQUEST_TIMEOUT_MS = 2_500;
/** Many times what kafkajs waits before it sends again. */
const HELD_MS = 500;
const TRIES_MAX = 20;

describe.skipIf(!kafka.available)(`sends as kafkajs makes them ${kafka.reason}`, () => {
  let names: TopicNames;
  let reader: KafkaLog;
  const opened: { close(): Promise<void> }[] = [];

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
  const twoLeaders = (): TwoLeaders => ({ ...{ brokers: kafka.brokers, names, reader }, opened });

  // It looks for its brokers in between, at one of them by chance: where that is the one whose answer is held,
  // it has the answer before it tries again.
  it("would write twice what one broker writes while another refuses its part", async () => {
    let written: readonly string[] = [];
    for (let tries = 1; tries <= TRIES_MAX && written.length < 2; tries += 1) {
      const before = (await values("decisions")).length;
      expect(await commitWhileOneRefuses(twoLeaders(), HELD_MS)).toBe("committed");
      written = (await values("decisions")).slice(before).filter((value) => value === "d");
    }
    expect(written).toEqual(["d", "d"]);
  });

  it("commits nothing where a partition was not acknowledged (K7)", async () => {
    expect(await commitWhileLeaderMoves(twoLeaders())).toBe("failed");
    expect([await values("decisions"), await values("allowed")]).toEqual([["before"], ["before"]]);
  });

  it("would commit without the partition that was dropped (K7)", async () => {
    expect(await commitWhileLeaderMoves(twoLeaders(), false)).toBe("committed");
    expect([await values("decisions"), await values("allowed")]).toEqual([
      ["before", "d"],
      ["before"],
    ]);
  });

  it("would send it elsewhere as well where kafkajs may choose (K9)", async () => {
    const proxy = await KafkaProxy.start(kafka.brokers);
    opened.unshift(proxy);
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
