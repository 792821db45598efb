// Transactions that the coordinator takes for ended, and that stay open in a partition for ever. A
// proxy answers for the broker that a partition was added to the transaction. The broker, which
// does not check that here, accepts the records all the same, and nothing ends the transaction.
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { type LocalKafka, startKafka } from "../../../infra/local/start-kafka.js";
import { ClusterLink } from "../../../services/adapters/kafka/cluster-link.ts";
import {
  describeOpen,
  findOpenTransactions,
  type OpenTransaction,
} from "../../../services/adapters/kafka/transactions/unfinished-transactions.ts";
import type { Topic } from "../../../services/runtime/topics.ts";
import { findFetchedKafka, localParts } from "../../support/backends/local-parts.ts";
import { connectKafka, readAll } from "../../support/kafka/test-cluster.ts";
import {
  openTestGate,
  propose,
  testCodec,
  untilDecided,
  untilReady,
} from "../../support/kafka/test-gate.ts";
import { ownAlone } from "../../support/kafka/test-ownership.ts";
import { makeWorld, startCounted, type World } from "../../support/kafka/two-owners.ts";
import { KafkaProxy } from "../../support/kafka-proxy/kafka-proxy.ts";
import { createTestLogger, type LoggedLine, until } from "../../support/runtime-kit.ts";

const parts = localParts(["kafka"]);
const ENDED = "ended a transaction that the cluster had left open";
/** An answer without throttling and without errors. */
const ADDED = { type: "answer", make: () => Buffer.alloc(8) } as const;

describe.skipIf(!parts.available)(
  `a transaction that a broker has left open ${parts.reason}`,
  () => {
    let kafka: LocalKafka;

    beforeAll(async () => {
      const version = findFetchedKafka();
      kafka = await startKafka({
        ...(version === undefined ? {} : { version }),
        properties: { "transaction.partition.verification.enable": "false" },
      });
    });
    afterAll(async () => kafka.stop());

    async function proxied(): Promise<KafkaProxy> {
      const proxy = await KafkaProxy.start(kafka.bootstrap);
      onTestFinished(() => proxy.close());
      return proxy;
    }

    /** Starts a gate behind a proxy that has decided the calls 0 to 19. */
    async function decided() {
      const world = await makeWorld(kafka.bootstrap, 1);
      const proxy = await proxied();
      const started = await startCounted(world, proxy.brokers);
      await untilReady(started.gate);
      await propose(world.log, 0, 20);
      await untilDecided(world.log, 20);
      return { world, proxy, ...started };
    }

    /** Starts a gate over the open transaction; returns its log. */
    async function nextGate({ names, group }: World): Promise<LoggedLine[]> {
      const lines: LoggedLine[] = [];
      const logger = createTestLogger(lines);
      const gate = await openTestGate(kafka.bootstrap, names, { group, logger });
      onTestFinished(() => gate.stop());
      await gate.host.start();
      await untilReady(gate);
      return lines;
    }

    /** Opens a transaction that stays open. */
    async function leaveOpen(
      world: World,
      transactionalId: string,
      value: Buffer,
      topic: Topic = "allowed",
    ): Promise<void> {
      const proxy = await proxied();
      const producer = connectKafka(proxy.brokers).producer({
        ...{ transactionalId, idempotent: true, maxInFlightRequests: 1 },
      });
      await producer.connect();
      proxy.arm({ api: "AddPartitionsToTxn", deed: ADDED });
      const transaction = await producer.transaction();
      const messages = [{ partition: 0, value }];
      await transaction.send({ topic: world.names[topic], messages });
      await producer.disconnect();
    }

    async function assertWhole(world: World, proposals: number): Promise<void> {
      const { problems, byCall } = await untilDecided(world.log, proposals);
      expect(problems).toEqual([]);
      for (const topic of ["allowed", "refused"] as const) {
        const events = [...byCall.values()].flat().filter((type) => type === topic);
        expect(await valuesOf(world, topic)).toHaveLength(events.length);
      }
    }

    it("is aborted where no reader has seen any of it, and its inputs are decided again", async () => {
      const { world, proxy, counts } = await decided();
      proxy.arm({ api: "AddPartitionsToTxn", deed: ADDED });
      proxy.arm({ api: "EndTxn", deed: { type: "cut-before" } });
      await propose(world.log, 20, 10);
      await until(() => (counts.get("take_overs") ?? 0) > 1);
      await assertWhole(world, 30);
    });

    it("is committed where its offsets were committed", async () => {
      const { world, proxy, gate, counts } = await decided();
      const commits = counts.get("commits") ?? 0;
      const { struck } = proxy.arm({ api: "AddPartitionsToTxn", deed: ADDED });
      await propose(world.log, 20, 1);
      await struck;
      await until(() => (counts.get("commits") ?? 0) > commits);
      await gate.stop();
      const lines = await nextGate(world);
      expect(ended(lines)).toEqual(["committed"]);
      await assertWhole(world, 21);
    });

    it("is committed where the journal has its decision", async () => {
      const { world, gate } = await decided();
      await gate.stop();
      const [one] = await valuesOf(world, "allowed");
      const before = (await valuesOf(world, "allowed")).length;
      await leaveOpen(world, `test.${world.group}.0`, Buffer.from(one ?? []));
      expect(ended(await nextGate(world))).toEqual(["committed"]);
      expect(await valuesOf(world, "allowed")).toHaveLength(before + 1);
    });

    it("is aborted where the journal does not have its decision", async () => {
      const { world, gate } = await decided();
      await gate.stop();
      await leaveOpen(world, `test.${world.group}.0`, Buffer.from("of no decision"));
      expect(ended(await nextGate(world))).toEqual(["aborted"]);
      await assertWhole(world, 20);
    });

    it("is committed where it has an executor's claim", async () => {
      const world = await makeWorld(kafka.bootstrap, 1);
      const { names, group } = world;
      await leaveOpen(world, `claims.${group}.0`, Buffer.from("a claim"), "results");
      const lines: LoggedLine[] = [];
      const ownership = ownAlone(kafka.bootstrap, names, {
        ...{ app: "claims", group },
        written: {
          ...{ topics: ["results"], writtenWith: null, logger: createTestLogger(lines) },
          newLink: () => new ClusterLink(connectKafka(kafka.bootstrap), [names.results], 5_000),
        },
      });
      onTestFinished(() => ownership.close());
      const writer = await ownership.takeOver(0);
      onTestFinished(() => writer.close());
      expect(ended(lines)).toEqual(["committed"]);
      const values = (await valuesOf(world, "results")).map((value) =>
        Buffer.from(value).toString(),
      );
      expect(values).toEqual(["a claim"]);
    });

    it("is left alone, with a warning, where another producer opened it", async () => {
      const { world, gate } = await decided();
      await gate.stop();
      await leaveOpen(world, `foreign-${world.group}`, Buffer.from("of somebody else"));
      const lines = await nextGate(world);
      expect(ended(lines)).toEqual([]);
      expect(lines.map(({ message }) => message)).toContain(
        "another producer has an open transaction in a topic that only gates write",
      );
      expect((await untilDecided(world.log, 20)).problems).toEqual([]);
      const link = new ClusterLink(
        connectKafka(kafka.bootstrap),
        Object.values(world.names),
        5_000,
      );
      onTestFinished(() => link.close());
      await link.connect();
      const topics = Object.values(world.names).map((name) => ({ name, partitions: 1 }));
      const [open, ...more] = await findOpenTransactions(link, topics);
      expect(more).toEqual([]);
      const stable = await link.offset(world.names.allowed, 0, "stable");
      expect(describeOpen(open as OpenTransaction, ["broker:9092"])).toContain(
        `broker:9092 abort --topic ${world.names.allowed} --partition 0 --start-offset ${stable}`,
      );
    });

    async function valuesOf(world: World, topic: Topic): Promise<readonly Uint8Array[]> {
      const records = await readAll(world.log, topic, 0);
      return records.flatMap(({ value }) => {
        if (value === null) return [];
        if (topic === "allowed") testCodec.decodeAllowed(value);
        return [value];
      });
    }
  },
);

function ended(lines: readonly LoggedLine[]): readonly unknown[] {
  return lines.filter(({ message }) => message === ENDED).map(({ fields }) => fields?.["outcome"]);
}
