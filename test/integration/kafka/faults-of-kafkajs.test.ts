// Shows each fault of kafkajs that a rule of ours guards against: with the guard nothing happens, and
// without it the fault shows.
import { describe, expect, it } from "vitest";
import type { OutgoingRecord } from "../../../services/runtime/ports.ts";
import type { Topic } from "../../../services/runtime/topics.ts";
import { oneBroker } from "../../support/backends/one-broker.ts";
import { loadWithout } from "../../support/edited-copy/gates-without.ts";
import { sendAfterFailed } from "../../support/kafka/failed-send.ts";
import { openTestLog } from "../../support/kafka/test-cluster.ts";
import {
  commitWhileLeaderMoves,
  commitWhileOneRefuses,
  makeTwoLeaders,
  type TwoLeaders,
  valuesOf,
} from "../../support/kafka/two-leaders.ts";
import { failFirst, REQUEST_TIMED_OUT } from "../../support/kafka-proxy/answers.ts";
import { KafkaProxy } from "../../support/kafka-proxy/kafka-proxy.ts";

const kafka = await oneBroker();
/** Short, so that a request without an answer soon fails. */
const REQUEST_TIMEOUT_MS = 2_500;

const record = (topic: Topic, value: string, partition = 0): OutgoingRecord => ({
  ...{ topic, partition, key: null },
  value: Buffer.from(value),
});

/** A log behind a proxy. */
async function openBehind({ brokers, names, opened }: TwoLeaders, open = openTestLog) {
  const proxy = await KafkaProxy.start(brokers);
  opened.unshift(proxy);
  const requestTimeoutMs = REQUEST_TIMEOUT_MS;
  const log = await open(proxy.brokers, names, { requestTimeoutMs });
  opened.push(log);
  return { proxy, log };
}

/** Makes two appends at once; the answer to the first send never comes. */
async function appendTwo(two: TwoLeaders, open = openTestLog): Promise<void> {
  const { proxy, log } = await openBehind(two, open);
  await log.append([record("proposals", "first")]);
  const { struck } = proxy.arm({ api: "Produce", deed: { type: "swallow" } });
  const one = log.append([record("proposals", "a")]);
  await new Promise((resolve) => setImmediate(resolve));
  const other = log.append([record("proposals", "b")]);
  await struck;
  await Promise.all([one, other]);
}

describe.skipIf(!kafka.available)(`faults of kafkajs ${kafka.reason}`, () => {
  it("appends each record once where sends do not overlap and an answer is lost (KAFKA-6)", async () => {
    const two = await makeTwoLeaders(kafka.brokers);
    await appendTwo(two);
    expect(await valuesOf(two, "proposals")).toEqual(["first", "a", "b"]);
  });

  it("without the guard loses one record and writes another twice where sends overlap (KAFKA-6)", async () => {
    const two = await makeTwoLeaders(kafka.brokers);
    type Opens = { readonly openTestLog: typeof openTestLog };
    const copy = await loadWithout<Opens>("oneAppend", "test-cluster.ts");
    await appendTwo(two, copy.openTestLog);
    expect(await valuesOf(two, "proposals")).toEqual(["first", "a", "a"]);
  });

  it("sends records to the new leader where the leader moves during a send", async () => {
    const two = await makeTwoLeaders(kafka.brokers);
    expect(await commitWhileLeaderMoves(two)).toBe("committed");
    expect(await valuesOf(two, "decisions")).toEqual(["d"]);
    expect(await valuesOf(two, "allowed")).toEqual(["a"]);
  });

  it("writes a part once where another broker refuses its part", async () => {
    const two = await makeTwoLeaders(kafka.brokers);
    expect(await commitWhileOneRefuses(two)).toBe("committed");
    expect(await valuesOf(two, "decisions")).toEqual(["d"]);
    expect(await valuesOf(two, "allowed")).toEqual(["a"]);
  });

  it("writes records once that a broker has written and reports as failed, and goes on behind them", async () => {
    const two = await makeTwoLeaders(kafka.brokers);
    const { proxy, log } = await openBehind(two);
    const append = (...values: string[]) =>
      log.append(values.flatMap((one) => [record("proposals", one), record("results", one)]));
    await append("first");
    const edit = (answer: Buffer): Buffer => failFirst(answer, REQUEST_TIMED_OUT);
    proxy.arm({ api: "Produce", deed: { type: "edit", edit }, times: 3 });
    const appended = await append("a", "b");
    expect(appended.map(({ offset }) => offset)).toEqual([2, 2, 3, 3]);
    await append("c");
    expect(await valuesOf(two, "proposals")).toEqual(["first", "a", "b", "c"]);
    expect(await valuesOf(two, "results")).toEqual(["first", "a", "b", "c"]);
  });

  it("sends nothing more with a producer after a failed send (KAFKA-4)", async () => {
    const two = await makeTwoLeaders(kafka.brokers);
    await expect(sendAfterFailed(two)).rejects.toThrow("create a new producer");
  });

  it("repeats a send to the same partition (KAFKA-9)", async () => {
    const two = await makeTwoLeaders(kafka.brokers);
    const { proxy, log } = await openBehind(two);
    proxy.arm({ api: "Produce", deed: { type: "swallow" } });
    await log.append([record("proposals", "once", 1)]);
    expect(await valuesOf(two, "proposals", 0)).toEqual([]);
    expect(await valuesOf(two, "proposals", 1)).toEqual(["once"]);
  });
});
