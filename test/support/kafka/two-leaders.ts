// Two leaders, played by one broker, for transactions that have a part on each of them.
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished } from "vitest";
import type { KafkaLog } from "../../../services/adapters/kafka/kafka-log.ts";
import type { TopicNames } from "../../../services/adapters/kafka/topics/topic-names.ts";
import type { KafkaOwnership } from "../../../services/adapters/kafka/transactions/kafka-ownership.ts";
import type { OutgoingRecord, PartitionWriter } from "../../../services/runtime/ports.ts";
import type { Topic } from "../../../services/runtime/topics.ts";
import { NOT_ENOUGH_REPLICAS, NOT_LEADER, refuseProduce } from "../kafka-proxy/answers.ts";
import { KafkaProxy } from "../kafka-proxy/kafka-proxy.ts";
import { makeTopics, openTestLog, readAll } from "./test-cluster.ts";
import { ownAlone } from "./test-ownership.ts";

export type TwoLeaders = {
  readonly brokers: readonly string[];
  readonly names: TopicNames;
  readonly reader: KafkaLog;
  /** Resources to close, the last one first. */
  readonly opened: { close(): Promise<void> }[];
};

const HELD_MS = 500;
/** The nodes: one for the journal and all else, one for allowed calls. */
const JOURNALS = 11;
const ALLOWED = 12;
const CONSUMED = { proposals: 0, results: 0, verdicts: 0 };
/** With kafkajs' own sends it may be written twice. */
const FIRST = "before";
const TRANSACTION_TIMEOUT_MS = 8_000;

const record = (topic: Topic, value: string): OutgoingRecord => ({
  ...{ topic, partition: 0, key: null },
  value: Buffer.from(value),
});

/** Topics and readers of a test, closed when the test ends. */
export async function makeTwoLeaders(brokers: readonly string[]): Promise<TwoLeaders> {
  const names = await makeTopics(brokers);
  const reader = await openTestLog(brokers, names);
  const opened: { close(): Promise<void> }[] = [reader];
  onTestFinished(async () => {
    for (const one of opened.reverse()) await one.close();
  });
  return { brokers, names, reader, opened };
}

/** What was committed to a partition since `commitFirst`. */
export async function valuesOf(
  { reader }: TwoLeaders,
  topic: Topic,
  partition = 0,
): Promise<readonly string[]> {
  const records = await readAll(reader, topic, partition);
  return records.map(({ value }) => String(value)).filter((value) => value !== FIRST);
}

/** Commits a first transaction, so that later ones need not wait for anything. */
export async function commitFirst(ownership: KafkaOwnership): Promise<PartitionWriter> {
  const records = [record("decisions", FIRST), record("allowed", FIRST)];
  for (;;) {
    const writer = await ownership.takeOver(0);
    const { type } = await writer.commit({ records, consumed: CONSUMED });
    if (type === "committed") return writer;
    expect(type).toBe("failed");
    await writer.close();
  }
}

async function commitUnder(
  { brokers, names, reader, opened }: TwoLeaders,
  leader: (topic: string) => number,
  arm: (proxy: KafkaProxy) => void,
): Promise<string> {
  const proxy = await KafkaProxy.start(brokers, { nodes: [JOURNALS, ALLOWED], leader });
  opened.unshift(proxy);
  const ownership = ownAlone(proxy.brokers, names, {
    transactionTimeoutMs: TRANSACTION_TIMEOUT_MS,
  });
  opened.push(ownership);
  const writer = await commitFirst(ownership);
  await reader.endOffset("allowed", 0);
  arm(proxy);
  const records = [record("decisions", "d"), record("allowed", "a")];
  const outcome = await writer.commit({ records, consumed: CONSUMED });
  await writer.close();
  return outcome.type;
}

/**
 * Commits `d` to the journal and `a` to the allowed calls, whose leader moves, while it is sent, to the
 * broker that has answered already. Returns the outcome.
 */
export function commitWhileLeaderMoves(two: TwoLeaders): Promise<string> {
  let leader = ALLOWED;
  const leaderOf = (topic: string) => (topic === two.names.allowed ? leader : JOURNALS);
  return commitUnder(two, leaderOf, (proxy) => {
    const { struck } = proxy.arm({
      api: "Produce",
      where: (_, node) => node === JOURNALS,
      deed: { type: "pass" },
    });
    proxy.arm({
      api: "Produce",
      times: Number.POSITIVE_INFINITY,
      where: (_, node) => node === ALLOWED,
      deed: {
        type: "answer",
        after: struck,
        make: (frame) => {
          leader = JOURNALS;
          return refuseProduce(frame, NOT_LEADER);
        },
      },
    });
  });
}

/**
 * The same, where the leader of the allowed calls refuses once while the journal's has not answered yet:
 * until the former is asked again, or for many times what kafkajs waits before it sends again.
 */
export function commitWhileOneRefuses(two: TwoLeaders): Promise<string> {
  const leaderOf = (topic: string) => (topic === two.names.allowed ? ALLOWED : JOURNALS);
  return commitUnder(two, leaderOf, (proxy) => {
    const isAllowed = (_: Buffer, node: number) => node === ALLOWED;
    const refused = proxy.arm({
      api: "Produce",
      where: isAllowed,
      deed: { type: "answer", make: (frame) => refuseProduce(frame, NOT_ENOUGH_REPLICAS) },
    });
    const again = proxy.arm({ api: "Produce", where: isAllowed, deed: { type: "pass" } });
    const held = refused.struck.then(() => Promise.race([again.struck, sleep(HELD_MS)]));
    proxy.arm({
      api: "Produce",
      where: (_, node) => node === JOURNALS,
      deed: { type: "hold", until: held },
    });
  });
}
