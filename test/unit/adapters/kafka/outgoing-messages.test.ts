import { describe, expect, test } from "vitest";
import { topicNames } from "../../../../services/adapters/kafka/topics/topic-names.ts";
import {
  SentRecords,
  toTopicMessages,
} from "../../../../services/adapters/kafka/transactions/outgoing-messages.ts";
import type { OutgoingRecord } from "../../../../services/runtime/ports.ts";

const names = topicNames("cg.");
const record = (topic: OutgoingRecord["topic"], partition: number): OutgoingRecord => ({
  ...{ topic, partition, key: "k", value: null },
});

function answer(topic: "allowed" | "decisions", partition: number, baseOffset: string, time = "7") {
  return { topicName: names[topic], partition, baseOffset, logAppendTime: time, errorCode: 0 };
}

describe("sent records", () => {
  test("get consecutive offsets in each topic and partition, in the order of the send", () => {
    const metadata = [
      answer("decisions", 0, "5"),
      answer("allowed", 0, "9"),
      answer("decisions", 1, "2"),
    ];
    const sent = new SentRecords(metadata, names);
    const records = [
      ...[record("decisions", 0), record("allowed", 0), record("decisions", 0)],
      ...[record("decisions", 1), record("decisions", 0), record("decisions", 1)],
    ];
    const positions = records.map((each) => sent.take(each));
    expect(positions.map(({ offset }) => offset)).toEqual([5, 9, 6, 2, 7, 3]);
    expect(positions.map(({ appendTimeMs }) => appendTimeMs)).toEqual(Array(6).fill(7));
  });

  test("have an unknown outcome where no broker acknowledged them", () => {
    const sent = new SentRecords([answer("decisions", 0, "5")], names);
    sent.take(record("decisions", 0));
    expect(() => sent.take(record("decisions", 1))).toThrow(/partition 1 did not acknowledge/);
    expect(() => sent.take(record("allowed", 0))).toThrow(/partition 0 did not acknowledge/);
  });

  test("must have the broker's time", () => {
    const sent = new SentRecords([answer("decisions", 0, "5", "-1")], names);
    expect(() => sent.take(record("decisions", 0))).toThrow(/message.timestamp.type/);
  });
});

test("groups messages by topic, with their headers", () => {
  const headers = [
    { name: "traceparent", value: "a" },
    { name: "x", value: "1" },
    { name: "x", value: "2" },
  ];
  const messages = toTopicMessages(
    [record("decisions", 3), { ...record("allowed", 3), headers }, record("decisions", 3)],
    names,
  );
  const plain = { partition: 3, key: "k", value: null };
  expect(messages).toStrictEqual([
    { topic: names.decisions, messages: [plain, plain] },
    {
      topic: names.allowed,
      messages: [{ ...plain, headers: { traceparent: "a", x: ["1", "2"] } }],
    },
  ]);
});
