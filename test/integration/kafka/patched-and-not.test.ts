// Faults of kafkajs that only a broker's answers show, with the published kafkajs and with one patch each.
import { setTimeout as sleep } from "node:timers/promises";
import type { Admin, Kafka, Producer } from "kafkajs";
import { describe, expect, it, onTestFinished } from "vitest";
import { waitForTransactionBefore } from "../../../services/adapters/kafka/patches/concurrent-transactions.ts";
import { throwCoordinatorRefusals } from "../../../services/adapters/kafka/patches/coordinator-refusals.ts";
import type { PrivatePackage } from "../../../services/adapters/kafka/patches/private-package.ts";
import { applyClientRetry } from "../../../services/adapters/kafka/patches/producer-retry.ts";
import {
  rememberEnded,
  sendOnceEach,
} from "../../../services/adapters/kafka/patches/send-messages.ts";
import { kafkaBackend } from "../../support/backends/kafka-backend.ts";
import { uniqueName } from "../../support/backends/unique-name.ts";
import { kafkajsClient, RETRIES } from "../../support/kafka/kafkajs-copy.ts";
import { makeTopics } from "../../support/kafka/test-cluster.ts";
import {
  CONCURRENT_TRANSACTIONS,
  GROUP_AUTHORIZATION_FAILED,
  INVALID_REQUEST,
  NOT_ENOUGH_REPLICAS,
  refuseCoordinator,
  refusePartitions,
  refuseProduce,
  refuseProducerId,
  refuseStep,
  TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
} from "../../support/kafka-proxy/answers.ts";
import { KafkaProxy } from "../../support/kafka-proxy/kafka-proxy.ts";
import type { Api } from "../../support/kafka-proxy/wire.ts";

const kafka = await kafkaBackend();
const ALWAYS = Number.POSITIVE_INFINITY;
/** Many times the duration of a request. */
const MEANWHILE_MS = 2_000;
const LOOK_MS = 20;
const MESSAGES = [{ value: "v", partition: 0 }];

async function startProxy(): Promise<KafkaProxy> {
  const proxy = await KafkaProxy.start(kafka.brokers);
  onTestFinished(() => proxy.close());
  return proxy;
}

async function connected<T extends Admin | Producer>(one: T): Promise<T> {
  await one.connect();
  onTestFinished(() => one.disconnect());
  return one;
}

const writerOf = (client: Kafka): Promise<Producer> =>
  connected(client.producer({ transactionalId: uniqueName("writer") }));

/** Returns the error where every broker gives this answer to each request for a coordinator. */
async function coordinatorError(
  code: number,
  ask: (client: Kafka) => Promise<unknown>,
  patch?: (copy: PrivatePackage) => void,
): Promise<unknown> {
  const proxy = await startProxy();
  const make = (): Buffer => refuseCoordinator(code);
  proxy.arm({ api: "FindCoordinator", times: ALWAYS, deed: { type: "answer", make } });
  return ask(kafkajsClient(proxy.brokers, patch)).catch((error: unknown) => error);
}

const askGroup = async (client: Kafka) =>
  (await connected(client.admin())).fetchOffsets({ groupId: uniqueName("group") });
const askTransaction = async (client: Kafka) => (await writerOf(client)).transaction();

describe.skipIf(!kafka.available)(`refused coordinators ${kafka.reason}`, () => {
  const patch = (copy: PrivatePackage): void => {
    throwCoordinatorRefusals(copy.load("src/cluster") as never);
  };
  const missingCoordinator = { name: "KafkaJSGroupCoordinatorNotFound" };

  it.each([
    ["group", GROUP_AUTHORIZATION_FAILED, askGroup],
    ["transactional id", TRANSACTIONAL_ID_AUTHORIZATION_FAILED, askTransaction],
  ])(
    "are thrown to a client without the right to the %s, instead of `not found`",
    async (_, code, ask) => {
      const [theirs, ours] = [
        await coordinatorError(code, ask),
        await coordinatorError(code, ask, patch),
      ];
      expect(theirs).toMatchObject(missingCoordinator);
      expect(theirs).not.toHaveProperty("code");
      expect(ours).toMatchObject({ name: "KafkaJSProtocolError", code });
    },
  );

  it("stay `not found` where no coordinator exists", async () => {
    expect(await coordinatorError(INVALID_REQUEST, askGroup, patch)).toMatchObject(
      missingCoordinator,
    );
  });
});

/** Sends with our patch; `isEnded` works as in the patch, or always returns false. */
function sendLike(ends: boolean): (copy: PrivatePackage) => void {
  return (copy) => {
    const internal = (path: string): never => copy.load(`src/${path}`) as never;
    const remembered = rememberEnded(internal("cluster"));
    const isEnded = ends ? remembered : () => false;
    const send = sendOnceEach(internal("errors"), internal("protocol/error"), isEnded);
    copy.replace("src/producer/sendMessages", send);
  };
}

/** Returns what a send does after its producer is disconnected. */
async function sendWhileDisconnected(patch?: (copy: PrivatePackage) => void) {
  const { proposals: topic } = await makeTopics(kafka.brokers);
  const proxy = await startProxy();
  const producer = kafkajsClient(proxy.brokers, patch).producer();
  await producer.connect();
  const make = (frame: Buffer): Buffer => refuseProduce(frame, NOT_ENOUGH_REPLICAS);
  const { struck } = proxy.arm({ api: "Produce", times: ALWAYS, deed: { type: "answer", make } });
  const sent = producer.send({ topic, messages: MESSAGES }).catch(() => undefined);
  await struck;
  await producer.disconnect();
  const before = proxy.seen("Produce");
  await sent;
  return { sentAfter: proxy.seen("Produce") - before, proxy };
}

describe.skipIf(!kafka.available)(`a producer that is disconnected ${kafka.reason}`, () => {
  it.each([
    ["with kafkajs as published", undefined],
    ["with a send that does not know of the disconnection", sendLike(false)],
  ])("goes on with its send and leaves a connection open, %s", async (_, patch) => {
    const { sentAfter, proxy } = await sendWhileDisconnected(patch);
    expect(sentAfter).toBeGreaterThan(1);
    expect(proxy.connections).toBeGreaterThan(0);
  });

  it("ends its send and its connections with the patch", async () => {
    const { sentAfter, proxy } = await sendWhileDisconnected(sendLike(true));
    // One request may have been in flight.
    expect(sentAfter).toBeLessThanOrEqual(1);
    await expect.poll(() => proxy.connections).toBe(0);
  });

  it("sends again after its user has reconnected it", async () => {
    const { proposals: topic } = await makeTopics(kafka.brokers);
    const producer = await connected(kafkajsClient(kafka.brokers, sendLike(true)).producer());
    await producer.disconnect();
    await producer.connect();
    const [metadata] = await producer.send({ topic, messages: MESSAGES });
    expect(metadata).toMatchObject({ topicName: topic, errorCode: 0 });
  });
});

async function beginBehind(patch?: (copy: PrivatePackage) => void) {
  const { proposals: topic } = await makeTopics(kafka.brokers);
  const proxy = await startProxy();
  const producer = await writerOf(kafkajsClient(proxy.brokers, patch));
  const transaction = await producer.transaction();
  const topics = [{ topic, partitions: [{ partition: 0, offset: "1" }] }];
  return {
    proxy,
    send: () => transaction.send({ topic, messages: MESSAGES }),
    sendOffsets: () => transaction.sendOffsets({ consumerGroupId: uniqueName("group"), topics }),
    commit: () => transaction.commit(),
  };
}

/** Makes a transaction that is refused three times at one step, since the previous one has not ended. */
async function refusedAt(api: Api, patch?: (copy: PrivatePackage) => void) {
  const { proxy, send, sendOffsets, commit } = await beginBehind(patch);
  const make = (frame: Buffer): Buffer =>
    api === "AddPartitionsToTxn"
      ? refusePartitions(frame, CONCURRENT_TRANSACTIONS)
      : refuseStep(CONCURRENT_TRANSACTIONS);
  const { struck } = proxy.arm({ api, times: 3, deed: { type: "answer", make } });
  const before = struck.then(() => proxy.seen("Metadata"));
  const outcome = await send()
    .then(sendOffsets)
    .then(commit)
    .then(
      () => "committed",
      (error: unknown) => error,
    );
  return { outcome, looks: proxy.seen("Metadata") - (await before) };
}

/** Counts requests for offsets before the answer to the records. */
async function askedMeanwhile(patch?: (copy: PrivatePackage) => void): Promise<number> {
  const { proxy, send, sendOffsets, commit } = await beginBehind(patch);
  let release = (): void => undefined;
  const until = new Promise<void>((resolve) => {
    release = resolve;
  });
  const { struck } = proxy.arm({ api: "AddPartitionsToTxn", deed: { type: "hold", until } });
  const sent = send();
  await struck;
  const recorded = sendOffsets();
  const untilMs = Date.now() + MEANWHILE_MS;
  while (proxy.seen("AddOffsetsToTxn") === 0 && Date.now() < untilMs) await sleep(LOOK_MS);
  const asked = proxy.seen("AddOffsetsToTxn");
  release();
  await Promise.all([sent, recorded]);
  await commit();
  return asked;
}

describe.skipIf(!kafka.available)(
  `a transaction that must wait for the previous one ${kafka.reason}`,
  () => {
    const patch = (copy: PrivatePackage): void => {
      waitForTransactionBefore(copy.load("src/broker") as never);
    };

    it("repeats its request without a refresh of all brokers", async () => {
      const theirs = await refusedAt("AddPartitionsToTxn");
      const ours = await refusedAt("AddPartitionsToTxn", patch);
      expect([theirs.outcome, ours.outcome]).toEqual(["committed", "committed"]);
      expect(theirs.looks).toBeGreaterThanOrEqual(3);
      expect(ours.looks).toBe(0);
    });

    it("repeats one request at a time", async () => {
      expect(await askedMeanwhile()).toBe(1);
      expect(await askedMeanwhile(patch)).toBe(0);
    });

    it.each(["AddOffsetsToTxn", "EndTxn"] as const)("repeats a refused %s request", async (api) => {
      const theirs = await refusedAt(api);
      expect(theirs.outcome).toMatchObject({ code: CONCURRENT_TRANSACTIONS });
      expect((await refusedAt(api, patch)).outcome).toBe("committed");
    });
  },
);

/** Counts a producer's requests for its id while the previous transaction does not end. */
async function asksForId(patch?: (copy: PrivatePackage) => void): Promise<number> {
  const proxy = await startProxy();
  const make = (): Buffer => refuseProducerId(CONCURRENT_TRANSACTIONS);
  proxy.arm({ api: "InitProducerId", times: ALWAYS, deed: { type: "answer", make } });
  await expect(askTransaction(kafkajsClient(proxy.brokers, patch))).rejects.toThrow();
  return proxy.seen("InitProducerId");
}

describe.skipIf(!kafka.available)(`a producer that takes an id over ${kafka.reason}`, () => {
  it("retries by its own settings, and not by kafkajs' defaults (KAFKA-11)", async () => {
    const patch = (copy: PrivatePackage): void => {
      copy.replace("src/cluster", applyClientRetry(copy.load("src/cluster") as never));
    };
    expect(await asksForId()).not.toBe(1 + RETRIES);
    expect(await asksForId(patch)).toBe(1 + RETRIES);
  });
});
