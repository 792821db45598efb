// Two leaders, played by one broker: what becomes of a transaction that both of them have a part of.
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import type { KafkaLog } from "../../../services/adapters/kafka/kafka-log.ts";
import type { KafkaOwnership } from "../../../services/adapters/kafka/kafka-ownership.ts";
import type { TopicNames } from "../../../services/adapters/kafka/topic-names.ts";
import type { OutgoingRecord, PartitionWriter } from "../../../services/runtime/ports.ts";
import type { Topic } from "../../../services/runtime/topics.ts";
import { KafkaProxy } from "../kafka-proxy/kafka-proxy.ts";
import { Cursor, int16, int32, int64, list, requestBody, text } from "../kafka-proxy/wire.ts";
import { ownAlone } from "./test-ownership.ts";

export type TwoLeaders = {
  readonly brokers: readonly string[];
  readonly names: TopicNames;
  readonly reader: KafkaLog;
  /** What is to be closed, the last one first. */
  readonly opened: { close(): Promise<void> }[];
};

/** Error codes of the protocol. */
const NOT_LEADER = 6;
const NOT_ENOUGH_REPLICAS = 19;
/** The nodes: one for the journal and all else, one for allowed calls. */
const JOURNALS = 11;
const ALLOWED = 12;
const CONSUMED = { proposals: 0, results: 0, verdicts: 0 };
const TRANSACTION_TIMEOUT_MS = 8_000;

const record = (topic: Topic, value: string): OutgoingRecord => ({
  ...{ topic, partition: 0, key: null },
  value: Buffer.from(value),
});

/** Answers a Produce request of version 7 with an error for every partition in it. */
function refuse(frame: Buffer, code: number): Buffer {
  const cursor = new Cursor(requestBody(frame));
  cursor.text();
  cursor.int16();
  cursor.int32();
  const topics = cursor.list(() => {
    const topic = cursor.text();
    const partitions = cursor.list(() => {
      const partition = cursor.int32();
      cursor.at += cursor.int32();
      const offsets = [int64(-1), int64(-1), int64(-1)];
      return Buffer.concat([int32(partition), int16(code), ...offsets]);
    });
    return Buffer.concat([text(topic), list(partitions)]);
  });
  return Buffer.concat([list(topics), int32(0)]);
}

/** Whatever a first transaction waits for is over then: one may fail, and nothing of it is there. */
async function commitFirst(ownership: KafkaOwnership): Promise<PartitionWriter> {
  const records = [record("decisions", "before"), record("allowed", "before")];
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
  acknowledged: boolean,
  leader: (topic: string) => number,
  arm: (proxy: KafkaProxy) => void,
): Promise<string> {
  const proxy = await KafkaProxy.start(brokers, { nodes: [JOURNALS, ALLOWED], leader });
  opened.unshift(proxy);
  const ownership = ownAlone(proxy.brokers, names, {
    safeguards: { acknowledged },
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
 * broker that has answered already. Gives the outcome.
 */
export function commitWhileLeaderMoves(two: TwoLeaders, acknowledged = true): Promise<string> {
  let leader = ALLOWED;
  const leaderOf = (topic: string) => (topic === two.names.allowed ? leader : JOURNALS);
  return commitUnder(two, acknowledged, leaderOf, (proxy) => {
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
          return refuse(frame, NOT_LEADER);
        },
      },
    });
  });
}

/**
 * The same, where the leader of the allowed calls refuses once while the journal's has not answered yet:
 * until the former is asked again, or for `heldMs`.
 */
export function commitWhileOneRefuses(two: TwoLeaders, heldMs: number): Promise<string> {
  const leaderOf = (topic: string) => (topic === two.names.allowed ? ALLOWED : JOURNALS);
  return commitUnder(two, true, leaderOf, (proxy) => {
    const isAllowed = (_: Buffer, node: number) => node === ALLOWED;
    const refused = proxy.arm({
      api: "Produce",
      where: isAllowed,
      deed: { type: "answer", make: (frame) => refuse(frame, NOT_ENOUGH_REPLICAS) },
    });
    const again = proxy.arm({ api: "Produce", where: isAllowed, deed: { type: "pass" } });
    const held = refused.struck.then(() => Promise.race([again.struck, sleep(heldMs)]));
    proxy.arm({
      api: "Produce",
      where: (_, node) => node === JOURNALS,
      deed: { type: "hold", until: held },
    });
  });
}
