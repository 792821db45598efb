import { randomBytes } from "node:crypto";
import * as zlib from "node:zlib";
import type { Producer, Transaction } from "kafkajs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { RETRY } from "../../../services/adapters/kafka/client.ts";
import type { KafkaLog } from "../../../services/adapters/kafka/kafka-log.ts";
import type { TopicNames } from "../../../services/adapters/kafka/topics/topic-names.ts";
import type { OutgoingRecord } from "../../../services/runtime/ports.ts";
import { oneBroker } from "../../support/backends/one-broker.ts";
import { uniqueName } from "../../support/backends/unique-name.ts";
import { loadWithout } from "../../support/edited-copy/gates-without.ts";
import {
  connectKafka,
  createTopics,
  type LogChoices,
  makeTopics,
  openTestLog,
  readAll,
} from "../../support/kafka/test-cluster.ts";
import {
  emptyFetch,
  endingAtStart,
  NOT_LEADER,
  OFFSET_OUT_OF_RANGE,
  withError,
} from "../../support/kafka-proxy/answers.ts";
import { KafkaProxy } from "../../support/kafka-proxy/kafka-proxy.ts";

const kafka = await oneBroker();
const LIMITS = { recordsMax: 1_000, bytesMax: 4 * 1024 * 1024 };

const record = (value: string, partition = 0): OutgoingRecord => ({
  ...{ topic: "proposals", partition, key: null },
  value: Buffer.from(value),
});

describe.skipIf(!kafka.available)(`reading from Kafka ${kafka.reason}`, () => {
  let names: TopicNames;
  const opened: { close(): Promise<void> }[] = [];

  beforeEach(async () => {
    names = await makeTopics(kafka.brokers);
  });
  afterEach(async () => {
    for (const one of opened.splice(0).reverse()) await one.close();
  });

  const open = async (brokers = kafka.brokers, choices: LogChoices = {}): Promise<KafkaLog> => {
    const log = await openTestLog(brokers, names, choices);
    opened.push(log);
    return log;
  };
  const proxyOf = async (
    ...cast: Parameters<typeof KafkaProxy.start> extends [unknown, ...infer C] ? C : never
  ) => {
    const proxy = await KafkaProxy.start(kafka.brokers, ...cast);
    opened.push(proxy);
    return proxy;
  };
  const producer = async (): Promise<Producer> => {
    const made = connectKafka(kafka.brokers).producer({
      transactionalId: uniqueName("writer"),
      idempotent: true,
      maxInFlightRequests: 1,
      retry: RETRY,
      createPartitioner: () => () => 0,
    });
    await made.connect();
    opened.push({ close: () => made.disconnect() });
    return made;
  };
  const send = async (transaction: Transaction, ...values: string[]): Promise<void> => {
    const messages = values.map((value) => ({ value, partition: 0 }));
    await transaction.send({ topic: names.proposals, messages });
  };
  const values = async (log: KafkaLog, from = 0): Promise<string[]> =>
    (await readAll(log, "proposals", 0, from)).map(({ value }) => String(value));

  /** Writes a short transaction inside a long one, both aborted, between committed ones. */
  const nestAborted = async (): Promise<void> => {
    const [long, short, good] = [await producer(), await producer(), await producer()];
    const first = await good.transaction();
    await send(first, "a");
    await first.commit();
    const outer = await long.transaction();
    await send(outer, "outer 1");
    const inner = await short.transaction();
    await send(inner, "inner");
    await inner.abort();
    const second = await good.transaction();
    await send(second, "b");
    await send(outer, "outer 2");
    await second.commit();
    await outer.abort();
    const third = await good.transaction();
    await send(third, "c");
    await third.commit();
  };

  it("skips aborted records, also of one transaction inside another", async () => {
    await nestAborted();
    const log = await open();
    await expect.poll(() => values(log)).toEqual(["a", "b", "c"]);
    expect(await values(log, 2)).toEqual(["b", "c"]);
  });

  it("without the filter shows aborted records", async () => {
    await nestAborted();
    type Opens = { readonly openTestLog: typeof openTestLog };
    const copy = await loadWithout<Opens>("filterAborted", "test-cluster.ts");
    const log = await copy.openTestLog(kafka.brokers, names);
    opened.push(log);
    await expect.poll(() => values(log)).toEqual(["a", "outer 1", "inner", "b", "outer 2", "c"]);
  });

  it("shows no record of an open transaction, and an end below it unless asked for the whole", async () => {
    const writer = await producer();
    const log = await open();
    await log.append([record("before")]);
    const transaction = await writer.transaction();
    await send(transaction, "open");
    await log.append([record("after")]);
    expect(await log.endOffset("proposals", 0)).toBe(1);
    const whole = log.endOffset("proposals", 0, "whole");
    expect(await values(log)).toEqual(["before"]);
    await transaction.commit();
    expect(await whole).toBeGreaterThanOrEqual(3);
    await log.waitForNew([{ topic: "proposals", partition: 0, offset: 1 }], 60_000);
    await expect.poll(() => values(log)).toEqual(["before", "open", "after"]);
  });

  it("returns an end of the journal only when the open transactions have ended", async () => {
    const writer = await producer();
    const log = await open();
    const transaction = await writer.transaction();
    await transaction.send({
      topic: names.decisions,
      messages: [{ value: "open", partition: 0 }],
    });
    const asked = log.endOffset("decisions", 0);
    const early = await Promise.race([
      asked,
      new Promise((r) => setTimeout(() => r("waits"), 200)),
    ]);
    expect(early).toBe("waits");
    await transaction.abort();
    expect(await asked).toBe(2);
    expect(await readAll(log, "decisions", 0)).toEqual([]);
  });

  it("follows many positions in one poll, and wakes each for its own records", async () => {
    const log = await open();
    const read = async (partition: number, count: number): Promise<string[]> => {
      const seen: string[] = [];
      for (let offset = 0; seen.length < count; ) {
        await log.waitForNew([{ topic: "proposals", partition, offset }], 60_000);
        const { records, nextOffset } = await log.read("proposals", partition, offset, LIMITS);
        seen.push(...records.map(({ value }) => String(value)));
        offset = nextOffset;
      }
      return seen;
    };
    const readers = [read(0, 30), read(1, 30)];
    for (let at = 0; at < 30; at += 1) {
      await log.append([record(`x${at}`, 0)]);
      await log.append([record(`y${at}`, 1)]);
    }
    const [x, y] = await Promise.all(readers);
    expect(x).toEqual(Array.from({ length: 30 }, (_, at) => `x${at}`));
    expect(y).toEqual(Array.from({ length: 30 }, (_, at) => `y${at}`));
  });

  it.each([
    [5, 10],
    [10, 5],
  ])("separates readers of one partition from offsets %d and %d", async (...offsets) => {
    const writer = await open();
    for (let at = 0; at < 10; at += 1) await writer.append([record(`v${at}`)]);
    const log = await open();
    const positions = offsets.map(
      (offset) => ({ topic: "proposals", partition: 0, offset }) as const,
    );
    // Both are followed from here on.
    const woken = log.waitForNew(positions, 60_000);
    await writer.append([record("v10")]);
    await woken;
    for (const offset of offsets) {
      const { records } = await log.read("proposals", 0, offset, LIMITS);
      const wanted = Array.from({ length: 11 - offset }, (_, at) => `v${offset + at}`);
      expect(records.map(({ value }) => String(value))).toEqual(wanted.slice(0, records.length));
    }
  });

  it("shows no reader an end before a record that another reader has", async () => {
    const proxy = await proxyOf();
    const writer = await open();
    await writer.append([record("v0")]);
    const log = await open(proxy.brokers);
    expect((await log.read("proposals", 0, 1, LIMITS)).records).toEqual([]);
    let release: () => void = () => undefined;
    const until = new Promise<void>((resolve) => {
      release = resolve;
    });
    const { struck } = proxy.arm({ api: "Fetch", deed: { type: "hold", until } });
    const woken = log.waitForNew([{ topic: "proposals", partition: 0, offset: 1 }], 60_000);
    await writer.append([record("v1")]);
    // The poll and its answer are in flight.
    await struck;
    expect((await log.read("proposals", 0, 0, LIMITS)).records).toHaveLength(2);
    const { records } = await log.read("proposals", 0, 1, LIMITS);
    release();
    await woken;
    expect(records.map(({ value }) => String(value))).toEqual(["v1"]);
  });

  it("shows a new reader no end below an earlier one", async () => {
    const proxy = await proxyOf();
    const writer = await open();
    await writer.append([record("v0")]);
    const log = await open(proxy.brokers);
    expect(await log.endOffset("proposals", 0)).toBe(1);
    // A new leader may not know yet all that was committed.
    proxy.arm({ api: "Fetch", deed: { type: "answer", make: () => emptyFetch(names.proposals) } });
    const { records } = await log.read("proposals", 0, 0, LIMITS);
    expect(records.map(({ value }) => String(value))).toEqual(["v0"]);
  });

  it("reads on in a truncated partition once its end was requested", async () => {
    const log = await open(kafka.brokers, { watchMs: 600_000 });
    await log.append([record("a"), record("b")]);
    expect(await values(log)).toEqual(["a", "b"]);
    const admin = connectKafka(kafka.brokers).admin();
    await admin.connect();
    await admin.deleteTopics({ topics: [names.proposals] });
    await expect.poll(() => admin.listTopics()).not.toContain(names.proposals);
    await admin.disconnect();
    await createTopics(kafka.brokers, [names.proposals]);
    await (await open()).append([record("c")]);
    await expect.poll(() => log.endOffset("proposals", 0)).toBe(1);
    expect(await values(log)).toEqual(["c"]);
    expect(await log.read("proposals", 0, 1, LIMITS)).toMatchObject({ records: [], endOffset: 1 });
  });

  it("goes on where its connections break again and again", async () => {
    const proxy = await proxyOf();
    const writer = await open();
    const log = await open(proxy.brokers);
    const seen: string[] = [];
    let offset = 0;
    for (let at = 0; at < 40; at += 1) {
      await writer.append([record(`v${at}`)]);
      if (at % 8 === 3) proxy.cutAll();
      if (at % 8 === 5) proxy.arm({ api: "Fetch", deed: { type: "cut-after" }, times: 2 });
      while (seen.length <= at) {
        await log.waitForNew([{ topic: "proposals", partition: 0, offset }], 100);
        const { records, nextOffset } = await log.read("proposals", 0, offset, LIMITS);
        seen.push(...records.map(({ value }) => String(value)));
        offset = nextOffset;
      }
    }
    expect(seen).toEqual(Array.from({ length: 40 }, (_, at) => `v${at}`));
  });

  it("goes on at the new leader when a partition moves", async () => {
    let leader = 11;
    const proxy = await proxyOf({ nodes: [11, 12], leader: () => leader });
    const log = await open(proxy.brokers);
    await log.append([record("a")]);
    expect(await values(log)).toEqual(["a"]);
    const waiting = log.waitForNew([{ topic: "proposals", partition: 0, offset: 1 }], 60_000);
    leader = 12;
    proxy.arm({
      api: "Fetch",
      times: Number.POSITIVE_INFINITY,
      where: (_, node) => node === 11,
      deed: { type: "edit", edit: withError(NOT_LEADER) },
    });
    await (await open()).append([record("b")]);
    await waiting;
    expect(await values(log)).toEqual(["a", "b"]);
  });

  it("waits where a deposed leader returns a lower end", async () => {
    let leader = 11;
    const proxy = await proxyOf({ nodes: [11, 12], leader: () => leader });
    const log = await open(proxy.brokers);
    await log.append([record("a"), record("b")]);
    const deposed = {
      times: Number.POSITIVE_INFINITY,
      where: (_: Buffer, node: number): boolean => node === 11,
    };
    const outOfRange = withError(OFFSET_OUT_OF_RANGE);
    proxy.arm({ ...deposed, api: "Fetch", deed: { type: "edit", edit: outOfRange } });
    const { struck } = proxy.arm({
      ...deposed,
      api: "ListOffsets",
      deed: { type: "edit", edit: endingAtStart },
    });
    const reading = log.read("proposals", 0, 1, LIMITS);
    await struck;
    leader = 12;
    const { records } = await reading;
    expect(records.map(({ value }) => String(value))).toEqual(["b"]);
  });

  it("stops where the records at its position were deleted", async () => {
    const log = await open();
    for (const value of ["a", "b", "c"]) await log.append([record(value)]);
    const admin = connectKafka(kafka.brokers).admin();
    await admin.connect();
    // Makes kafkajs fetch the leader of the topic, which it needs and does not do by itself.
    await admin.fetchTopicOffsets(names.proposals);
    await admin.deleteTopicRecords({
      topic: names.proposals,
      partitions: [{ partition: 0, offset: "2" }],
    });
    await admin.disconnect();
    await expect(log.read("proposals", 0, 1, LIMITS)).rejects.toMatchObject({
      code: "input_out_of_reach",
      context: { offset: 1, start: 2 },
    });
    expect(await log.startOffset("proposals", 0)).toBe(2);
    await expect(log.read("proposals", 0, 99, LIMITS)).rejects.toMatchObject({
      code: "log_mismatch",
    });
    expect(await values(log, 2)).toEqual(["c"]);
  });

  it("refuses records with their sender's time", async () => {
    names = await makeTopics(kafka.brokers, {
      config: { "message.timestamp.type": "CreateTime" },
    });
    const log = await open();
    await expect(log.append([record("a")])).rejects.toMatchObject({ code: "log_mismatch" });
    await expect(log.read("proposals", 0, 0, LIMITS)).rejects.toMatchObject({
      code: "log_mismatch",
    });
  });

  const codecs = ["gzip", "snappy", "lz4", ...("zstdDecompressSync" in zlib ? ["zstd"] : [])];
  it.each(codecs)("decompresses records that the broker compressed with %s", async (codec) => {
    names = await makeTopics(kafka.brokers, { config: { "compression.type": codec } });
    const log = await open();
    const sent = Array.from({ length: 300 }, (_, at) =>
      at % 3 === 0 ? randomBytes(700).toString("base64") : `${"again and ".repeat(at)}${at}`,
    );
    await log.append(sent.map((value) => record(value)));
    expect(await values(log)).toEqual(sent);
  });

  it("stops when a topic gets more partitions", async () => {
    const log = await open(kafka.brokers, { watchMs: 50 });
    const admin = connectKafka(kafka.brokers).admin();
    await admin.connect();
    await admin.createPartitions({ topicPartitions: [{ topic: names.results, count: 3 }] });
    await admin.disconnect();
    const read = () => log.read("proposals", 0, 0, LIMITS).then(() => "read", String);
    await expect.poll(read).toContain("same number of partitions");
  });

  it("names the topics that are missing", async () => {
    const gone = { ...names, held: uniqueName("gone"), alerts: uniqueName("gone") };
    await expect(openTestLog(kafka.brokers, gone)).rejects.toThrow(
      new RegExp(`(?=.*${gone.held})(?=.*${gone.alerts})`),
    );
  });

  it.each([
    [2_000_000, { code: "too_large" }, undefined],
    // Less than the adapter's limit, and more than the topic's.
    [500_000, { code: "outcome_unknown" }, { "max.message.bytes": "100000" }],
  ])(
    "appends records once that share a send with a record of %d bytes",
    async (bytes, refused, config) => {
      if (config !== undefined) names = await makeTopics(kafka.brokers, { config });
      const log = await open();
      const large = { ...record("", 1), value: Buffer.alloc(bytes) };
      const appends = [[large], [record("a")], [record("b")]].map((one) => log.append(one));
      const [first, ...others] = await Promise.allSettled(appends);
      expect(first).toMatchObject({ status: "rejected", reason: refused });
      expect(await values(log)).toEqual(["a", "b"]);
      const expectedStatus = config === undefined ? "fulfilled" : "rejected";
      expect(others.map(({ status }) => status)).toEqual([expectedStatus, expectedStatus]);
    },
  );

  it("reports an unknown outcome when the connection breaks during a commit", async () => {
    const proxy = await proxyOf();
    const log = await open(proxy.brokers);
    await log.append([record("a", 0), record("b", 1)]);
    proxy.arm({ api: "EndTxn", deed: { type: "cut-after" } });
    await expect(log.append([record("c", 0), record("d", 1)])).rejects.toMatchObject({
      code: "outcome_unknown",
    });
    await log.append([record("e", 0), record("f", 1)]);
    const reader = await open();
    await expect.poll(() => values(reader)).toEqual(["a", "c", "e"]);
  });
});
