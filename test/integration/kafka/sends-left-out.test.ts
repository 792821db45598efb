// How the published kafkajs repeats a send, shown with a copy of the sources without our patch of sends.
// All other patches apply.
import { describe, expect, it } from "vitest";
import { oneBroker } from "../../support/backends/one-broker.ts";
import { loadWithout, type Safeguard } from "../../support/edited-copy/gates-without.ts";
import type * as failedSend from "../../support/kafka/failed-send.ts";
import type * as testCluster from "../../support/kafka/test-cluster.ts";
import type * as twoLeaders from "../../support/kafka/two-leaders.ts";
import { KafkaProxy } from "../../support/kafka-proxy/kafka-proxy.ts";

const kafka = await oneBroker();
/** Short, so that a request without an answer soon fails. */
const REQUEST_TIMEOUT_MS = 2_500;
const TRIES_MAX = 20;

const loadLeaders = (safeguard: Safeguard): Promise<typeof twoLeaders> =>
  loadWithout<typeof twoLeaders>(safeguard, "two-leaders.ts");

describe.skipIf(!kafka.available)(`sends of the published kafkajs ${kafka.reason}`, () => {
  // In between it refreshes the brokers at a random one. If that is the one whose answer is held,
  // kafkajs gets the answer before it retries.
  it("write a part twice where another broker refuses its part", async () => {
    // The second would count as a record of another gate.
    const { commitWhileOneRefuses, makeTwoLeaders, valuesOf } =
      await loadLeaders("sendsBesideOthers");
    const two = await makeTwoLeaders(kafka.brokers);
    let written: readonly string[] = [];
    for (let tries = 1; tries <= TRIES_MAX && written.length < 2; tries += 1) {
      const before = (await valuesOf(two, "decisions")).length;
      await commitWhileOneRefuses(two);
      written = (await valuesOf(two, "decisions")).slice(before);
    }
    expect(written).toEqual(["d", "d"]);
  });

  it("are not committed where a partition did not acknowledge (KAFKA-7)", async () => {
    const { commitWhileLeaderMoves, makeTwoLeaders, valuesOf } =
      await loadLeaders("sendsOfKafkajs");
    const two = await makeTwoLeaders(kafka.brokers);
    expect(await commitWhileLeaderMoves(two)).toBe("failed");
    expect(await valuesOf(two, "decisions")).toEqual([]);
    expect(await valuesOf(two, "allowed")).toEqual([]);
  });

  it("without our guard are committed without a dropped partition (KAFKA-7)", async () => {
    const { commitWhileLeaderMoves, makeTwoLeaders, valuesOf } =
      await loadLeaders("sendsUnacknowledged");
    const two = await makeTwoLeaders(kafka.brokers);
    expect(await commitWhileLeaderMoves(two)).toBe("committed");
    expect(await valuesOf(two, "decisions")).toEqual(["d"]);
    expect(await valuesOf(two, "allowed")).toEqual([]);
  });

  it("are lost after an earlier send of the producer has failed (KAFKA-4)", async () => {
    const { makeTwoLeaders, valuesOf } = await loadLeaders("sendsOfKafkajs");
    const two = await makeTwoLeaders(kafka.brokers);
    const failed = await loadWithout<typeof failedSend>("sendsOfKafkajs", "failed-send.ts");
    await failed.sendAfterFailed(two);
    // Committed but dropped: it has the sequence of an aborted send, and brokers take it for a repetition.
    expect(await valuesOf(two, "proposals")).toEqual([]);
    expect(await valuesOf(two, "results")).toEqual([]);
  });

  it("go to another partition as well where kafkajs may choose one (KAFKA-9)", async () => {
    const { makeTwoLeaders, valuesOf } = await loadLeaders("sendsOfKafkajs");
    const two = await makeTwoLeaders(kafka.brokers);
    const proxy = await KafkaProxy.start(kafka.brokers);
    two.opened.unshift(proxy);
    const cluster = await loadWithout<typeof testCluster>("sendsOfKafkajs", "test-cluster.ts");
    const client = cluster.connectKafka(proxy.brokers, { requestTimeoutMs: REQUEST_TIMEOUT_MS });
    const producer = client.producer({ idempotent: true, maxInFlightRequests: 1 });
    await producer.connect();
    two.opened.push({ close: () => producer.disconnect() });
    proxy.arm({ api: "Produce", deed: { type: "swallow" } });
    await producer.send({ topic: two.names.proposals, messages: [{ value: "once" }] });
    expect(await valuesOf(two, "proposals", 0)).toEqual(["once"]);
    expect(await valuesOf(two, "proposals", 1)).toEqual(["once"]);
  });
});
