import { expect, it } from "vitest";
import type { DescribedCluster } from "../../../../services/adapters/kafka/topics/metadata-request.ts";
import { findChange, topicFacts } from "../../../../services/adapters/kafka/topics/topic-facts.ts";
import { topicNames } from "../../../../services/adapters/kafka/topics/topic-names.ts";
import { TOPICS } from "../../../../services/runtime/topics.ts";

const UNKNOWN_TOPIC = 3;
const names = topicNames("t");
const cluster = (change: Partial<DescribedCluster["topics"][number]> = {}): DescribedCluster => ({
  clusterId: "c",
  brokers: 1,
  topics: Object.values(names).map((name, index) => ({
    ...{ name, errorCode: 0, topicId: `a${index}`, partitions: 4 },
    ...(name === names.held ? change : {}),
  })),
});
const facts = topicFacts(cluster(), names);

it("reads cluster, partitions and ids of the topics", () => {
  expect(facts).toMatchObject({ clusterId: "c", partitions: 4 });
  expect(facts.ids.get("proposals")).toBe("a0");
});

it("refuses topics that are missing, differ in their partitions, or have no id", () => {
  const missing = () => topicFacts(cluster({ errorCode: UNKNOWN_TOPIC }), names);
  expect(missing).toThrow(/no topic `t\.held\.v1`/);
  expect(() => topicFacts(cluster({ partitions: 5 }), names)).toThrow(/`t\.held\.v1` 5/);
  expect(() => topicFacts(cluster({ topicId: "0000" }), names)).toThrow(/no topic ids/);
});

it("ignores topics that are not used", () => {
  const used = TOPICS.filter((topic) => topic !== "held");
  const without = topicFacts(cluster({ errorCode: UNKNOWN_TOPIC, partitions: 0 }), names, used);
  expect(without.partitions).toBe(4);
  expect(findChange(without, cluster({ partitions: 5, topicId: "b1" }), names)).toBeNull();
});

it("detects a new topic, added partitions and another cluster, and ignores missing answers", () => {
  const change = (now: DescribedCluster) => findChange(facts, now, names);
  expect(change(cluster())).toBeNull();
  expect(change(cluster({ topicId: "b1" }))?.message).toMatch(/`t\.held\.v1` was deleted/);
  expect(change(cluster({ partitions: 5 }))?.message).toMatch(/same number of partitions/);
  expect(change({ ...cluster(), clusterId: "d" })?.message).toMatch(/cluster `d`/);
  expect(change(cluster({ errorCode: UNKNOWN_TOPIC }))).toBeNull();
});
