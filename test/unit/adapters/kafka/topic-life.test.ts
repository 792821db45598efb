import { describe, expect, test } from "vitest";
import {
  assertSameLife,
  type LivingTopics,
  readTopicLife,
  writeTopicLife,
} from "../../../../services/adapters/kafka/topics/topic-life.ts";
import { topicNames } from "../../../../services/adapters/kafka/topics/topic-names.ts";

const names = topicNames("calls");
const topics = (partitions: number, remade = ""): LivingTopics => ({
  partitions,
  topicId: (topic) => (topic === remade ? `${topic}-2` : `${topic}-1`),
});

function compare(recorded: LivingTopics, now: LivingTopics): void {
  const life = readTopicLife(writeTopicLife(recorded));
  if (life === null) throw new Error("it was not read");
  assertSameLife(life, now, names);
}

describe("the topics of recorded offsets", () => {
  test("match the same topics", () => {
    expect(() => compare(topics(4), topics(4))).not.toThrow();
  });

  test.each([
    ["decisions", "calls.decisions.v1"],
    ["results", "calls.results.v1"],
  ])("differ where %s was created again", (remade, name) => {
    expect(() => compare(topics(4), topics(4, remade))).toThrow(`\`${name}\` was deleted`);
  });

  test("differ from topics with more partitions", () => {
    expect(() => compare(topics(4), topics(8))).toThrow("had 4 partitions");
  });

  test.each([
    null,
    "",
    "by hand",
    "callgate/2 partitions=4",
    "callgate/1 partitions=4 proposals=a",
  ])("are unknown with the metadata %j", (metadata) => {
    expect(readTopicLife(metadata)).toBeNull();
  });
});
