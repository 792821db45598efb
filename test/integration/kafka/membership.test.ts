// Who owns a number, and what a writer does whose number has gone.
import { describe, expect, it, onTestFinished } from "vitest";
import { GroupMembership } from "../../../services/adapters/kafka/group-membership.ts";
import { KafkaOwnership } from "../../../services/adapters/kafka/kafka-ownership.ts";
import { ALL_KAFKA_SAFEGUARDS } from "../../../services/adapters/kafka/kafka-safeguards.ts";
import type { TopicNames } from "../../../services/adapters/kafka/topic-names.ts";
import { FatalError, FencedError } from "../../../services/runtime/errors.ts";
import type { Assignment } from "../../../services/runtime/membership.ts";
import { kafkaBackend } from "../../support/backends/kafka-backend.ts";
import { uniqueName } from "../../support/backends/unique-name.ts";
import { connectKafka, makeTopics } from "../../support/kafka/test-cluster.ts";
import { createTestLogger, type LoggedLine, until } from "../../support/runtime-kit.ts";

const kafka = await kafkaBackend();
const BATCH = {
  records: [{ topic: "decisions", partition: 0, key: "t/c", value: Buffer.from("d") }],
  consumed: { proposals: 1, results: 0, verdicts: 0 },
} as const;

function memberOf(
  names: TopicNames,
  group: string,
  safeguards = ALL_KAFKA_SAFEGUARDS,
): GroupMembership {
  const membership = new GroupMembership({
    newKafka: () => connectKafka(kafka.brokers),
    names,
    settings: { group, sessionTimeoutMs: 15_000, heartbeatIntervalMs: 300 },
    logger: createTestLogger([] satisfies LoggedLine[]),
    safeguards,
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
    safeguards: ALL_KAFKA_SAFEGUARDS,
  });
  onTestFinished(() => ownership.close());
  return ownership;
}

async function makeWorld(partitions = 2) {
  const names = await makeTopics(kafka.brokers, { partitions });
  return { names, group: uniqueName("members") };
}

const ignore = (): void => undefined;

describe.skipIf(!kafka.available)(`a place among gates on a real broker ${kafka.reason}`, () => {
  it("tells of each assignment, with an epoch that grows, and of nothing after leaving", async () => {
    const { names, group } = await makeWorld();
    const told: Assignment[] = [];
    const first = memberOf(names, group);
    await first.join((assignment) => told.push(assignment));
    const second = memberOf(names, group);
    await second.join(ignore);
    await until(() => first.assignment.numbers.length === 1);
    await first.leave();
    expect(told.map(({ numbers }) => numbers.length)).toEqual([2, 1, 0]);
    expect(told.map(({ epoch }) => epoch)).toEqual([1, 2, 3]);
    expect(first.joined).toBe(false);
    await until(() => second.assignment.numbers.length === 2);
  });

  it("confirms a number by a heartbeat that is newer than the question, and none that has gone", async () => {
    const { names, group } = await makeWorld();
    const first = memberOf(names, group);
    await first.join(ignore);
    const [zero, one] = [first.grantOf(0), first.grantOf(1)];
    if (zero === undefined || one === undefined) throw new Error("both numbers are ours");
    expect(await first.confirm(zero, Date.now())).toBe(true);
    const second = memberOf(names, group);
    await second.join(ignore);
    await until(() => first.assignment.numbers.length === 1);
    const kept = first.assignment.numbers.includes(0) ? zero : one;
    const lost = kept === zero ? one : zero;
    expect(first.isCurrent(kept)).toBe(true);
    expect(await first.confirm(kept, Date.now())).toBe(true);
    expect(await first.confirm(lost, 0)).toBe(false);
    await second.leave();
    await until(() => first.assignment.numbers.length === 2);
    expect(first.isCurrent(lost)).toBe(false);
  });

  it("drops work for a number that has gone, before anything is sent, and counts it", async () => {
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

  it("takes over again where a writer was fenced and the group says that the number is ours", async () => {
    const { names, group } = await makeWorld(1);
    const membership = memberOf(names, group);
    await membership.join(ignore);
    const writer = await ownershipOf(names, group, membership).takeOver(0);
    // Somebody with our ids, who is not in the group: fenced, but the number stays ours.
    await ownershipOf(names, group, membership).takeOver(0);
    expect(await writer.commit(BATCH)).toMatchObject({ type: "failed", oversize: false });
    expect(await writer.commit(BATCH)).toMatchObject({ type: "failed", oversize: false });
    const again = await ownershipOf(names, group, membership).takeOver(0);
    expect((await again.commit(BATCH)).type).toBe("committed");
    // The coordinator of the group may be told of the commit after the writer was.
    await expect.poll(() => again.recordedOffsets()).toEqual(BATCH.consumed);
  });

  it("closes a writer that was fenced by the new owner of its number", async () => {
    const { names, group } = await makeWorld(2);
    const first = memberOf(names, group);
    await first.join(ignore);
    const ownership = ownershipOf(names, group, first);
    const writers = [await ownership.takeOver(0), await ownership.takeOver(1)];
    const second = memberOf(names, group);
    await second.join(ignore);
    const [number = -1] = second.assignment.numbers;
    await ownershipOf(names, group, second).takeOver(number);
    const batch = {
      ...BATCH,
      records: BATCH.records.map((one) => ({ ...one, partition: number })),
    };
    await expect(writers[number]?.commit(batch)).rejects.toThrow(FencedError);
  });

  it("says that a batch is too large before it sends anything, and goes on with the next", async () => {
    const { names, group } = await makeWorld(1);
    const membership = memberOf(names, group);
    await membership.join(ignore);
    const writer = await ownershipOf(names, group, membership).takeOver(0);
    const large = { ...BATCH, records: [{ ...BATCH.records[0], value: Buffer.alloc(900) }] };
    expect(await writer.commit(large)).toMatchObject({ type: "failed", oversize: true });
    expect((await writer.commit(BATCH)).type).toBe("committed");
  });

  it("refuses a group that others use for something else", async () => {
    const { names, group } = await makeWorld(1);
    const stranger = memberOf(names, group, { ...ALL_KAFKA_SAFEGUARDS, assignNumbers: false });
    await stranger.join(ignore);
    const joining = memberOf(names, group).join(ignore);
    await expect(joining).rejects.toThrow(FatalError);
    await expect(joining).rejects.toThrow("a group of its own");
  });
});
