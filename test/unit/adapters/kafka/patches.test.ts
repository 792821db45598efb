// Each fault of kafkajs, without and with its patch.
import { once } from "node:events";
import { createRequire } from "node:module";
import { Socket } from "node:net";
import { expect, it, vi } from "vitest";
import { assembleRequest } from "../../../../services/adapters/kafka/patches/assemble-request.ts";
import { waitForTransactionBefore } from "../../../../services/adapters/kafka/patches/concurrent-transactions.ts";
import { cacheCoordinators } from "../../../../services/adapters/kafka/patches/coordinator-cache.ts";
import { leaveDeadSockets } from "../../../../services/adapters/kafka/patches/dead-sockets.ts";
import { groupByPartition } from "../../../../services/adapters/kafka/patches/group-by-partition.ts";
import { stopIdleTimer } from "../../../../services/adapters/kafka/patches/idle-timer.ts";
import { surviveLostBrokers } from "../../../../services/adapters/kafka/patches/lost-brokers.ts";
import { createProduceRequest } from "../../../../services/adapters/kafka/patches/produce-request.ts";
import { throwRefusedTopic } from "../../../../services/adapters/kafka/patches/refused-topic.ts";

const require = createRequire(import.meta.url);

/** Loads a new instance of a published module, which tests may patch without effect on others. */
function stock<T>(path: string): T {
  const id = require.resolve(`kafkajs/src/${path}`);
  const cached = require.cache[id];
  delete require.cache[id];
  try {
    return require(id) as T;
  } finally {
    if (cached === undefined) delete require.cache[id];
    else require.cache[id] = cached;
  }
}

/** Counts the iterations over lists while messages are grouped. */
function walks(group: typeof groupByPartition): { count: number; groups: object } {
  const iterate = Array.prototype[Symbol.iterator];
  const messages = Array.from({ length: 200 }, (_, index) => ({ index }));
  let count = 0;
  Array.prototype[Symbol.iterator] = function counted<T>(this: T[]) {
    count += 1;
    return iterate.call(this) as ArrayIterator<T>;
  };
  try {
    const partitioner = ({ message: { index } }: { message: { index: number } }) => index % 2;
    const groups = group({ topic: "t", partitionMetadata: [1], messages, partitioner });
    return { count, groups };
  } finally {
    Array.prototype[Symbol.iterator] = iterate;
  }
}

it("groups messages in one pass", () => {
  const theirs = walks(stock<typeof groupByPartition>("producer/groupMessagesPerPartition"));
  const ours = walks(groupByPartition);
  expect(ours.groups).toEqual(theirs.groups);
  expect(theirs.count).toBeGreaterThanOrEqual(200);
  expect(ours.count).toBeLessThanOrEqual(2);
});

type MakeRequest = (input: object) => { encode(): Promise<{ readonly buffer: Buffer }> };

/** Counts the buffers allocated while records with two headers each are written. */
async function buffersFor(records: number, make: MakeRequest): Promise<number> {
  const messages = Array.from({ length: records }, (_, index) => ({
    key: Buffer.from("key"),
    value: Buffer.from(`value ${index}`),
    headers: { one: Buffer.from("1"), two: Buffer.from("2") },
  }));
  const topicData = [{ topic: "calls", partitions: [{ partition: 0, messages }] }];
  const spies = (["alloc", "allocUnsafe", "concat", "from"] as const).map((way) =>
    vi.spyOn(Buffer, way),
  );
  try {
    await make({ acks: -1, timeout: 1_000, topicData }).encode();
    return spies.reduce((sum, { mock }) => sum + mock.calls.length, 0);
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
}

it("writes a request into one buffer, however many records it has", async () => {
  const theirs = stock<MakeRequest>("protocol/requests/produce/v3/request");
  expect(await buffersFor(100, theirs)).toBeGreaterThanOrEqual(300);
  const ours = createProduceRequest as MakeRequest;
  expect(await buffersFor(100, ours)).toBe(await buffersFor(1, ours));
});

type Queue = {
  readonly prototype: {
    readonly pending: readonly unknown[];
    scheduleCheckPendingRequests(): void;
  };
  new (
    options: object,
  ): {
    throttleCheckTimeoutId: unknown;
    checkPendingRequests(): void;
    maybeThrottle(ms: number): void;
    push(request: object): void;
    destroy(): void;
  };
};

function createQueue(Queue: Queue) {
  const logger = { debug: () => undefined, warn: () => undefined };
  return new Queue({ maxInFlightRequests: null, requestTimeout: 1_000, logger });
}

it("leaves no timer running while no request is pending", () => {
  const theirs = createQueue(stock<Queue>("network/requestQueue"));
  theirs.checkPendingRequests();
  expect(theirs.throttleCheckTimeoutId).not.toBeNull();
  theirs.destroy();

  const Patched = stock<Queue>("network/requestQueue");
  stopIdleTimer(Patched);
  const ours = createQueue(Patched);
  ours.checkPendingRequests();
  expect(ours.throttleCheckTimeoutId).toBeNull();
  ours.maybeThrottle(10_000);
  ours.push({ entry: { correlationId: 1 }, expectResponse: true, sendRequest: () => undefined });
  expect(ours.throttleCheckTimeoutId).not.toBeNull();
  ours.destroy();
});

class TestBroker {
  isUp = true;
  isConnected(): boolean {
    return this.isUp;
  }
}

/** A cluster with one coordinator, and a way to send it a request that may fail. */
function cachedCluster() {
  class Pool {
    async send(error: unknown): Promise<void> {
      if (error !== null) throw error;
    }
  }
  const pool = new Pool();
  const broker = Object.assign(new TestBroker(), { connectionPool: pool });
  class Cluster {
    looks = 0;
    async findGroupCoordinator(_: { groupId: string }): Promise<typeof broker> {
      this.looks += 1;
      return broker;
    }
  }
  cacheCoordinators(Cluster, Pool);
  const cluster = new Cluster();
  const request = (error: Error | null) => pool.send(error).catch(() => undefined);
  const looksOf = async (groupId: string): Promise<number> => {
    await cluster.findGroupCoordinator({ groupId });
    return cluster.looks;
  };
  return { broker, request, looksOf };
}

const withType = (type: string): Error => Object.assign(new Error(type), { type });

it("looks up a coordinator again only after an error or a lost connection", async () => {
  const { broker, request, looksOf } = cachedCluster();
  expect([await looksOf("a"), await looksOf("a"), await looksOf("b")]).toEqual([1, 1, 2]);
  await request(null);
  await request(withType("CONCURRENT_TRANSACTIONS"));
  expect(await looksOf("a")).toBe(2);
  await request(withType("NOT_COORDINATOR_FOR_GROUP"));
  expect([await looksOf("a"), await looksOf("a")]).toEqual([3, 3]);
  broker.isUp = false;
  expect(await looksOf("a")).toBe(4);
});

type Address = { readonly host: string; readonly port: number };
type PoolBroker = {
  readonly nodeId: number;
  readonly connectionPool: Address;
  isConnected(): boolean;
  disconnect(): Promise<void>;
  metadata(): Promise<object>;
};
type Pool = {
  seedBroker: PoolBroker | undefined;
  brokers: Record<number, PoolBroker>;
  refreshMetadata(topics: readonly string[]): Promise<void>;
  removeBroker(address: Address): void;
  disconnect(): Promise<void>;
};
type PoolClass = { readonly prototype: never; new (options: object): Pool };

const [ONE, TWO]: readonly [Address, Address] = [
  { host: "one", port: 1 },
  { host: "two", port: 2 },
];

/** A pool that knows broker 1; `meanwhile` runs during a refresh that returns another broker. */
function poolOf(Pool: PoolClass, meanwhile: (pool: Pool) => unknown, seen = [ONE, TWO]): Pool {
  const logger = { namespace: () => logger, debug: () => undefined, error: () => undefined };
  const connectionPoolBuilder = {
    build: async (address: Address) => {
      await meanwhile(pool);
      return address;
    },
  };
  const pool = new Pool({ connectionPoolBuilder, logger });
  const brokers = seen.map((address, index) => ({ ...address, nodeId: index + 1 }));
  const broker: PoolBroker = {
    nodeId: 1,
    connectionPool: ONE,
    isConnected: () => true,
    disconnect: async () => undefined,
    metadata: async () => ({ brokers: [...brokers].reverse(), topicMetadata: [] }),
  };
  pool.seedBroker = broker;
  pool.brokers = { 1: broker };
  return pool;
}

it("reports brokers lost during a refresh as missing metadata, and not as a TypeError", async () => {
  const Theirs = stock<PoolClass>("cluster/brokerPool");
  const Patched = stock<PoolClass>("cluster/brokerPool");
  surviveLostBrokers(Patched, stock("errors"));
  for (const lose of [
    (pool: Pool) => pool.disconnect(),
    (pool: Pool) => {
      pool.removeBroker(ONE);
    },
  ]) {
    await expect(poolOf(Theirs, lose).refreshMetadata([])).rejects.toThrow(TypeError);
    await expect(poolOf(Patched, lose).refreshMetadata([])).rejects.toMatchObject({
      name: "KafkaJSMetadataNotLoaded",
      retriable: true,
    });
  }
});

it("recovers where a refresh finds brokers after the last one was removed", async () => {
  const lost = (Pool: PoolClass): Pool => {
    const pool = poolOf(Pool, () => undefined, [ONE]);
    pool.seedBroker = undefined;
    return pool;
  };
  const Theirs = stock<PoolClass>("cluster/brokerPool");
  await expect(lost(Theirs).refreshMetadata([])).rejects.toThrow(TypeError);
  expect(() => lost(Theirs).removeBroker(ONE)).toThrow(TypeError);
  const Patched = stock<PoolClass>("cluster/brokerPool");
  surviveLostBrokers(Patched, stock("errors"));
  await expect(lost(Patched).refreshMetadata([])).resolves.toBeUndefined();
  const pool = lost(Patched);
  pool.removeBroker(ONE);
  expect(pool.brokers).toEqual({});
});

it("reports the refused topic of a transaction, instead of one that was not tried", async () => {
  const path = "protocol/requests/addPartitionsToTxn/v0/response";
  const answer = {
    errors: [
      { topic: "a", partitionErrors: [{ partition: 0, errorCode: 55 }] },
      { topic: "b", partitionErrors: [{ partition: 0, errorCode: 29 }] },
    ],
  };
  const theirs = stock<Parameters<typeof throwRefusedTopic>[0]>(path);
  await expect(theirs.parse(answer)).rejects.toMatchObject({ code: 55 });
  throwRefusedTopic(theirs);
  const message = expect.stringMatching(/ \(b\)$/);
  await expect(theirs.parse(answer)).rejects.toMatchObject({ code: 29, message });

  const alone = { errors: answer.errors.slice(0, 1) };
  await expect(theirs.parse(alone)).rejects.toMatchObject({ code: 55 });
  const fine = { errors: [{ topic: "a", partitionErrors: [{ partition: 0, errorCode: 0 }] }] };
  expect(await theirs.parse(fine)).toBe(fine);
});

type Connection = { socket: Socket | null; disconnect(): Promise<boolean> };

/** Counts the listeners on a closed socket after repeated disconnects. */
async function listenersAfter(
  times: number,
  patch: typeof leaveDeadSockets | null,
): Promise<number> {
  const Stock = stock<new (options: object) => Connection>("network/connection");
  patch?.(Stock as { readonly prototype: Connection });
  const quiet = { debug: () => undefined, error: () => undefined };
  const connection = new Stock({
    ...{ host: "127.0.0.1", port: 1, connectionTimeout: 1_000, requestTimeout: 1_000 },
    logger: { namespace: () => quiet },
  });
  const socket = new Socket().destroy();
  await once(socket, "close");
  connection.socket = socket;
  for (let at = 0; at < times; at += 1) await connection.disconnect();
  return socket.listenerCount("connect");
}

it("leaves no listener on the socket of a broker that is gone", async () => {
  expect(await listenersAfter(5, null)).toBeGreaterThanOrEqual(5);
  expect(await listenersAfter(5, leaveDeadSockets)).toBe(0);
});

it("repeats the end of a transaction until its coordinator reports the outcome", async () => {
  const { KafkaJSProtocolError } = stock<{ KafkaJSProtocolError: new (what: object) => Error }>(
    "errors",
  );
  const refusal = (type: string, code: number): Error =>
    new KafkaJSProtocolError({ type, code, retriable: false, message: type });
  const fenced = refusal("INVALID_PRODUCER_EPOCH", 47);
  const makeBroker = (): { readonly prototype: Record<string, unknown>; asked: number } => {
    const broker = {
      asked: 0,
      prototype: {
        addPartitionsToTxn: () => Promise.resolve(),
        addOffsetsToTxn: () => Promise.resolve(),
        endTxn: () => {
          broker.asked += 1;
          const isUnderWay = broker.asked < 3;
          return Promise.reject(isUnderWay ? refusal("CONCURRENT_TRANSACTIONS", 51) : fenced);
        },
      },
    };
    return broker;
  };
  const request = { transactionalId: "t", producerId: 1, producerEpoch: 0 };
  const end = (broker: ReturnType<typeof makeBroker>): Promise<unknown> =>
    (broker.prototype["endTxn"] as (what: object) => Promise<unknown>)(request);
  const theirs = makeBroker();
  await expect(end(theirs)).rejects.toMatchObject({ type: "CONCURRENT_TRANSACTIONS" });
  const patched = makeBroker();
  waitForTransactionBefore(patched as never);
  await expect(end(patched)).rejects.toBe(fenced);
  expect([theirs.asked, patched.asked]).toEqual([1, 3]);
});

const VALUE_BYTES = 600 * 1024;
const MEBIBYTE = 1024 * 1024;

/** Counts zeroed bytes that are allocated to write the header of a request of 600 KiB. */
async function zerosFor(assemble: typeof assembleRequest): Promise<number> {
  const messages = [{ key: null, value: Buffer.alloc(VALUE_BYTES) }];
  const topicData = [{ topic: "t", partitions: [{ partition: 0, messages }] }];
  const request = createProduceRequest({ acks: -1, timeout: 1, topicData });
  const made = vi.spyOn(Buffer, "alloc");
  try {
    await assemble({ correlationId: 1, clientId: "gate", request } as never);
    return made.mock.calls.reduce((sum, [bytes]) => sum + bytes, 0);
  } finally {
    made.mockRestore();
  }
}

it("writes the header of a request without a copy of the request", async () => {
  const theirs = stock<typeof assembleRequest>("protocol/request");
  expect(await zerosFor(theirs)).toBeGreaterThanOrEqual(2 * MEBIBYTE);
  expect(await zerosFor(assembleRequest)).toBe(0);
});
