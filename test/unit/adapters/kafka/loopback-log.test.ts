import { expect, test } from "vitest";
import { LoopbackLog } from "../../../../services/adapters/kafka/loopback-log.ts";
import { topicNames } from "../../../../services/adapters/kafka/topics/topic-names.ts";
import type { OutgoingRecord } from "../../../../services/runtime/ports.ts";
import { NO_POSITION, type Topic } from "../../../../services/runtime/topics.ts";

const NOW_MS = 1_700_000_000_123;
const ALL = { recordsMax: 1_000, bytesMax: 1_000_000 };

function loopback(): LoopbackLog {
  return new LoopbackLog(topicNames("warm"), () => NOW_MS);
}

function record(topic: Topic, value: string): OutgoingRecord {
  const headers = [{ name: "traceparent", value: "00-1" }];
  return { topic, partition: 0, key: "t/c", value: Buffer.from(value), headers };
}

test("returns inputs as they were written, with the log's offsets and time", async () => {
  const log = loopback();
  await log.append([record("proposals", "one"), record("results", "other")]);
  const placed = await log.append([record("proposals", "two"), record("proposals", "three")]);
  expect(placed.map(({ offset }) => offset)).toEqual([1, 2]);
  const first = await log.read("proposals", 0, 0, { ...ALL, recordsMax: 2 });
  const rest = await log.read("proposals", 0, first.nextOffset, ALL);
  expect(rest).toMatchObject({ nextOffset: 3, endOffset: 3 });
  const records = [...first.records, ...rest.records];
  expect(records.map(({ value }) => String(value))).toEqual(["one", "two", "three"]);
  expect(records.map(({ offset }) => offset)).toEqual([0, 1, 2]);
  expect(records.map(({ key }) => String(key))).toEqual(["t/c", "t/c", "t/c"]);
  expect(records.map(({ appendTimeMs }) => appendTimeMs)).toEqual([NOW_MS, NOW_MS, NOW_MS]);
  expect(records[0]?.headers).toEqual([{ name: "traceparent", value: "00-1" }]);
  const results = await log.read("results", 0, 0, ALL);
  expect(results.records.map(({ value }) => String(value))).toEqual(["other"]);
});

test("reads on from the end of the previous read, and from nowhere else", async () => {
  const log = loopback();
  await log.append([record("proposals", "one")]);
  await expect(log.read("proposals", 0, 1, ALL)).rejects.toThrow("read in order");
  await expect(log.read("decisions", 0, 0, ALL)).rejects.toThrow("cannot read `decisions`");
});

test("assigns consecutive offsets to commits", async () => {
  const log = loopback();
  const writer = await log.takeOver(0);
  const records = [record("decisions", "a"), record("allowed", "b"), record("decisions", "c")];
  const outcome = await writer.commit({ records, consumed: NO_POSITION });
  const placed = outcome.type === "committed" ? outcome.appended.map(({ offset }) => offset) : [];
  expect(placed).toEqual([0, 0, 1]);
  expect(await log.endOffset("decisions")).toBe(2);
  expect(await writer.recordedOffsets()).toEqual(NO_POSITION);
});

test("wakes a waiting reader for a record, a time-out, a signal, and when it closes", async () => {
  const log = loopback();
  const at = [{ topic: "proposals", partition: 0, offset: 0 } as const];
  const stop = new AbortController();
  const waits = [
    log.waitForNew(at, 60_000),
    log.waitForNew(at, 60_000, stop.signal),
    log.waitForNew(at, 1),
  ];
  stop.abort();
  await Promise.all(waits.slice(1));
  await log.append([record("proposals", "one")]);
  await waits[0];
  await log.waitForNew(at, 60_000);
  const later = log.waitForNew([{ topic: "results", partition: 0, offset: 0 }], 60_000);
  await log.close();
  await later;
});
