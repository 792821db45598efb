// Ownership of partitions, and writers whose partition has gone.
import { describe, expect, it, onTestFinished } from "vitest";
import { GroupMembership } from "../../../services/adapters/kafka/membership/group-membership.ts";
import { loadKafkajs } from "../../../services/adapters/kafka/patches/load-kafkajs.ts";
import type { TopicNames } from "../../../services/adapters/kafka/topics/topic-names.ts";
import { KafkaOwnership } from "../../../services/adapters/kafka/transactions/kafka-ownership.ts";
import { FatalError, FencedError } from "../../../services/runtime/errors.ts";
import type { Assignment } from "../../../services/runtime/membership.ts";
import { INPUT_TOPICS } from "../../../services/runtime/topics.ts";
import { kafkaBackend } from "../../support/backends/kafka-backend.ts";
import { uniqueName } from "../../support/backends/unique-name.ts";
import { connectKafka, makeTopics } from "../../support/kafka/test-cluster.ts";
import { KafkaProxy } from "../../support/kafka-proxy/kafka-proxy.ts";
import { createTestLogger, type LoggedLine, until } from "../../support/runtime-kit.ts";

const kafka = await kafkaBackend();
const BATCH = {
  records: [{ topic: "decisions", partition: 0, key: "t/c", value: Buffer.from("d") }],
  consumed: { proposals: 1, results: 0, verdicts: 0 },
} as const;

type MemberChoices = { readonly brokers?: readonly string[]; readonly lines?: LoggedLine[] };

function memberOf(
  names: TopicNames,
  group: string,
  { brokers = kafka.brokers, lines = [] }: MemberChoices = {},
): GroupMembership {
  const membership = new GroupMembership({
    newKafka: () => connectKafka(brokers),
    names,
    settings: { group, sessionTimeoutMs: 15_000, heartbeatIntervalMs: 300 },
    logger: createTestLogger(lines),
  });
  onTestFinished(() => membership.leave());
  return membership;
}

function ownershipOf(
  names: TopicNames,
  group: string,
  membership: GroupMembership,
  counted: string[] = [],
): KafkaOwnership {
  const ownership = new KafkaOwnership({
    settings: { app: "test", group, transactionTimeoutMs: 10_000 },
    names,
    newKafka: () => connectKafka(kafka.brokers),
    membership,
    messageBytesMax: () => 1_000,
    metrics: { count: (name) => counted.push(name), observe: () => undefined },
  });
  onTestFinished(() => ownership.close());
  return ownership;
}

/** A group leader with the same protocol that assigns all partitions except partition 0 of the first topic. */
async function joinAndShareBadly(names: TopicNames, groupId: string): Promise<void> {
  const { MemberAssignment, MemberMetadata } = loadKafkajs().AssignerProtocol;
  const [NAME, VERSION, userData] = ["callgate-partitions", 1, Buffer.from("{}")] as const;
  const consumer = connectKafka(kafka.brokers).consumer({
    ...{ groupId, heartbeatInterval: 300, maxWaitTimeInMs: 100 },
    partitionAssigners: [
      () => ({
        ...{ name: NAME, version: VERSION },
        protocol: ({ topics }) => ({
          name: NAME,
          metadata: MemberMetadata.encode({ version: VERSION, topics, userData }),
        }),
        assign: async ({ members, topics }) => {
          const shares = topics.map((topic, at) => [topic, at === 0 ? [1] : [0, 1]]);
          const assignment = Object.fromEntries(shares) as Record<string, number[]>;
          const encoded = MemberAssignment.encode({ version: VERSION, assignment, userData });
          return members.map(({ memberId }) => ({ memberId, memberAssignment: encoded }));
        },
      }),
    ],
  });
  onTestFinished(() => consumer.disconnect());
  const joined = new Promise((resolve) => consumer.on(consumer.events.GROUP_JOIN, resolve));
  await consumer.connect();
  await consumer.subscribe({ topics: INPUT_TOPICS.map((topic) => names[topic]) });
  await consumer.run({ eachBatch: () => Promise.resolve() });
  await joined;
}

async function makeWorld(partitions = 2) {
  const names = await makeTopics(kafka.brokers, { partitions });
  return { names, group: uniqueName("members") };
}

const ignore = (): void => undefined;

describe.skipIf(!kafka.available)(
  `membership in the group of gates on a real broker ${kafka.reason}`,
  () => {
    it("reports each assignment with a growing epoch, and nothing after leaving", async () => {
      const { names, group } = await makeWorld();
      const assignments: Assignment[] = [];
      const first = memberOf(names, group);
      await first.join((assignment) => assignments.push(assignment));
      const second = memberOf(names, group);
      await second.join(ignore);
      await until(() => first.assignment.partitions.length === 1);
      await first.leave();
      expect(assignments.map(({ partitions }) => partitions.length)).toEqual([2, 1, 0]);
      expect(assignments.map(({ epoch }) => epoch)).toEqual([1, 2, 3]);
      expect(first.joined).toBe(false);
      await until(() => second.assignment.partitions.length === 2);
    });

    it("confirms a partition by a heartbeat newer than the request, and no partition that has gone", async () => {
      const { names, group } = await makeWorld();
      const first = memberOf(names, group);
      await first.join(ignore);
      const [zero, one] = [first.grantOf(0), first.grantOf(1)];
      if (zero === undefined || one === undefined) throw new Error("both partitions are ours");
      expect(await first.confirm(zero, Date.now())).toBe(true);
      const second = memberOf(names, group);
      await second.join(ignore);
      await until(() => first.assignment.partitions.length === 1);
      const remaining = first.assignment.partitions.includes(0) ? zero : one;
      const lost = remaining === zero ? one : zero;
      expect(first.isCurrent(remaining)).toBe(true);
      expect(await first.confirm(remaining, Date.now())).toBe(true);
      expect(await first.confirm(lost, 0)).toBe(false);
      await second.leave();
      await until(() => first.assignment.partitions.length === 2);
      expect(first.isCurrent(lost)).toBe(false);
    });

    it("runs no partition that it has in some topics only, and logs it (KAFKA-17)", async () => {
      const { names, group } = await makeWorld();
      await joinAndShareBadly(names, group);
      const lines: LoggedLine[] = [];
      const member = memberOf(names, group, { lines });
      await member.join(ignore);
      expect(member.assignment.partitions).toEqual([1]);
      const errors = lines.filter(({ level }) => level === "error");
      expect(errors).toMatchObject([
        {
          message: expect.stringMatching(/assigned in some topics only/),
          fields: { partition: 0 },
        },
      ]);
    });

    it("reads nothing through its group, and records nothing there (KAFKA-12)", async () => {
      const { names, group } = await makeWorld();
      const proxy = await KafkaProxy.start(kafka.brokers);
      onTestFinished(() => proxy.close());
      const member = memberOf(names, group, { brokers: proxy.brokers });
      await member.join(ignore);
      const grant = member.grantOf(0);
      if (grant === undefined) throw new Error("both partitions are ours");
      // The fetch loop has run several times by then.
      for (let turns = 0; turns < 3; turns += 1) await member.confirm(grant, Date.now());
      expect(proxy.seen("Heartbeat")).toBeGreaterThanOrEqual(3);
      expect([proxy.seen("Fetch"), proxy.seen("OffsetCommit")]).toEqual([0, 0]);
    });

    it("stays in the group when a listener of its assignments throws (KAFKA-18)", async () => {
      const { names, group } = await makeWorld();
      const first = memberOf(names, group);
      let assignmentCount = 0;
      await first.join(() => {
        assignmentCount += 1;
        if (assignmentCount === 2) throw new TypeError("it cannot be taken in");
      });
      const second = memberOf(names, group);
      await second.join(ignore);
      await until(() => assignmentCount === 2);
      await second.leave();
      await until(() => assignmentCount === 3);
      expect(first.assignment).toEqual({ epoch: 3, partitions: [0, 1] });
    });

    it("fails for good when the group's client ends (KAFKA-18)", async () => {
      const { names, group } = await makeWorld();
      const proxy = await KafkaProxy.start(kafka.brokers);
      onTestFinished(() => proxy.close());
      // Bytes that kafkajs cannot read throw a RangeError in it.
      const make = (): Buffer => Buffer.alloc(0);
      const always = Number.POSITIVE_INFINITY;
      proxy.arm({ api: "SyncGroup", times: always, deed: { type: "answer", make } });
      const member = memberOf(names, group, { brokers: proxy.brokers });
      await expect(member.join(ignore)).rejects.toThrow(/the group's client ended/);
      expect(await member.failed).toBeInstanceOf(FatalError);
    });

    it("drops and counts a commit for a partition that has gone before sending anything", async () => {
      const { names, group } = await makeWorld(1);
      const membership = memberOf(names, group);
      await membership.join(ignore);
      const counted: string[] = [];
      const ownership = ownershipOf(names, group, membership, counted);
      const writer = await ownership.takeOver(0);
      expect((await writer.commit(BATCH)).type).toBe("committed");
      await membership.leave();
      await expect(writer.commit(BATCH)).rejects.toThrow(FencedError);
      expect(counted).toEqual(["late_drops"]);
      await expect(ownership.takeOver(0)).rejects.toThrow(FencedError);
    });

    it("takes over again where a writer was fenced and the group confirms the partition", async () => {
      const { names, group } = await makeWorld(1);
      const membership = memberOf(names, group);
      await membership.join(ignore);
      const writer = await ownershipOf(names, group, membership).takeOver(0);
      // A producer with our ids that is not in the group fences us, but the partition stays ours.
      await ownershipOf(names, group, membership).takeOver(0);
      expect(await writer.commit(BATCH)).toMatchObject({ type: "failed", oversize: false });
      expect(await writer.commit(BATCH)).toMatchObject({ type: "failed", oversize: false });
      const again = await ownershipOf(names, group, membership).takeOver(0);
      expect((await again.commit(BATCH)).type).toBe("committed");
      // The group coordinator may learn of the commit after the writer.
      await expect.poll(() => again.recordedOffsets()).toEqual(BATCH.consumed);
    });

    it("closes a writer that the new owner of its partition has fenced", async () => {
      const { names, group } = await makeWorld(2);
      const first = memberOf(names, group);
      await first.join(ignore);
      const ownership = ownershipOf(names, group, first);
      const writers = [await ownership.takeOver(0), await ownership.takeOver(1)];
      const second = memberOf(names, group);
      await second.join(ignore);
      const [number = -1] = second.assignment.partitions;
      await ownershipOf(names, group, second).takeOver(number);
      const batch = {
        ...BATCH,
        records: BATCH.records.map((one) => ({ ...one, partition: number })),
      };
      await expect(writers[number]?.commit(batch)).rejects.toThrow(FencedError);
    });

    it("reports a batch as too large before sending anything, and goes on with the next", async () => {
      const { names, group } = await makeWorld(1);
      const membership = memberOf(names, group);
      await membership.join(ignore);
      const writer = await ownershipOf(names, group, membership).takeOver(0);
      const large = { ...BATCH, records: [{ ...BATCH.records[0], value: Buffer.alloc(900) }] };
      expect(await writer.commit(large)).toMatchObject({ type: "failed", oversize: true });
      expect((await writer.commit(BATCH)).type).toBe("committed");
    });

    it("refuses a group that other programs use", async () => {
      const { names, group } = await makeWorld(1);
      const stranger = connectKafka(kafka.brokers).consumer({ groupId: group });
      onTestFinished(() => stranger.disconnect());
      const joined = new Promise((resolve) => stranger.on(stranger.events.GROUP_JOIN, resolve));
      await stranger.subscribe({ topics: INPUT_TOPICS.map((topic) => names[topic]) });
      await stranger.run({ eachBatch: async () => undefined });
      await joined;
      const joining = memberOf(names, group).join(ignore);
      await expect(joining).rejects.toThrow(FatalError);
      await expect(joining).rejects.toThrow("a group of its own");
    });
  },
);
