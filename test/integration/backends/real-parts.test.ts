import { Kafka, logLevel } from "kafkajs";
import { describe, expect, test, vi } from "vitest";
import { assertKafkaReady } from "../../../infra/local/kafka-ready.js";
import { askRedis } from "../../support/backends/ask-redis.ts";
import { kafkaBackend } from "../../support/backends/kafka-backend.ts";
import { redisBackend } from "../../support/backends/redis-backend.ts";
import { registryBackend } from "../../support/backends/registry-backend.ts";
import { uniqueName } from "../../support/backends/unique-name.ts";

const [kafka, redis, registry] = await Promise.all([
  kafkaBackend(),
  redisBackend(),
  registryBackend(),
]);

const READY_WITHIN_MS = 25_000;

describe.skipIf(!kafka.available)("Kafka", () => {
  const client = () => new Kafka({ brokers: [...kafka.brokers], logLevel: logLevel.NOTHING });

  test("commits a transaction, and stamps records with its own clock", async () => {
    const topic = uniqueName("parts");
    const admin = client().admin();
    const producer = client().producer({
      transactionalId: topic,
      idempotent: true,
      maxInFlightRequests: 1,
    });
    try {
      await admin.connect();
      await admin.createTopics({ topics: [{ topic, numPartitions: 1 }], waitForLeaders: false });
      // One of several brokers may not know the topic yet.
      const hasTopic = () =>
        admin.fetchTopicOffsets(topic).then(
          () => true,
          () => false,
        );
      await expect.poll(hasTopic, { timeout: 10_000 }).toBe(true);
      await producer.connect();
      const transaction = await producer.transaction();
      const messages = [{ partition: 0, value: "a", timestamp: "1" }];
      await transaction.send({ topic, messages });
      await transaction.commit();
      // One record and the commit marker, which may be written after the answer.
      const end = async () => (await admin.fetchTopicOffsets(topic)).map(({ high }) => high);
      await expect.poll(end).toEqual(["2"]);
      expect(await admin.fetchTopicOffsetsByTimestamp(topic, 2)).toEqual([
        { partition: 0, offset: "0" },
      ]);
    } finally {
      await producer.disconnect();
      await admin.deleteTopics({ topics: [topic] });
      await admin.disconnect();
    }
  });

  test("is probed without a negative timer, of which Node would warn", async () => {
    const timers = vi.spyOn(globalThis, "setTimeout");
    try {
      // It throws until everything works, since a broker may not know the new topic yet.
      const asked = () => assertKafkaReady({ bootstrap: kafka.brokers, brokers: 1 });
      await vi.waitFor(asked, { timeout: READY_WITHIN_MS, interval: 100 });
      expect(timers.mock.calls.length).toBeGreaterThan(0);
      expect(timers.mock.calls.filter(([, delay]) => delay !== undefined && delay < 0)).toEqual([]);
    } finally {
      timers.mockRestore();
    }
  });

  test("creates no topic on a mere request for metadata", async () => {
    const admin = client().admin();
    await admin.connect();
    try {
      const topics = [uniqueName("never-made")];
      await expect(admin.fetchTopicMetadata({ topics })).rejects.toThrow(/topic-partition/);
    } finally {
      await admin.disconnect();
    }
  });
});

test.skipIf(!redis.available)("Redis returns stored values", async () => {
  const key = uniqueName("parts");
  expect(await askRedis(redis.url, ["SET", key, "1", "PX", "60000"])).toBe("+OK");
  expect(await askRedis(redis.url, ["INCR", key])).toBe(":2");
  expect(await askRedis(redis.url, ["DEL", key])).toBe(":1");
});

const CONFLICT = 409;

describe.skipIf(!registry.available)("the registry", () => {
  const post = async (path: string, schema: unknown) => {
    const response = await fetch(`${registry.url}${path}`, {
      method: "POST",
      headers: { "content-type": "application/vnd.schemaregistry.v1+json" },
      body: JSON.stringify({ schema: JSON.stringify(schema) }),
    });
    const body = (await response.json()) as { readonly id?: number };
    return { status: response.status, body };
  };
  const record = (fields: readonly unknown[]) => ({ type: "record", name: "Part", fields });

  test("returns a schema by its id, and refuses an incompatible one", async () => {
    const subject = uniqueName("parts");
    const versions = `/subjects/${subject}/versions`;
    const first = record([{ name: "a", type: "string" }]);
    const made = await post(versions, first);
    expect(made).toEqual({ status: 200, body: { id: expect.any(Number) } });
    const response = await fetch(`${registry.url}/schemas/ids/${made.body.id}`);
    const { schema } = (await response.json()) as { readonly schema: string };
    expect(JSON.parse(schema)).toEqual(first);
    await fetch(`${registry.url}/config/${subject}`, {
      method: "PUT",
      headers: { "content-type": "application/vnd.schemaregistry.v1+json" },
      body: JSON.stringify({ compatibility: "BACKWARD" }),
    });
    const unfit = await post(versions, record([{ name: "b", type: "long" }]));
    expect(unfit.status).toBe(CONFLICT);
  });
});
