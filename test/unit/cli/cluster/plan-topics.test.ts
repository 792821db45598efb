import { describe, expect, it } from "vitest";
import { planTopics } from "../../../../services/cli/cluster/plan-topics.ts";
import type { TopicFacts } from "../../../../services/runtime/topic-facts.ts";
import { TOPICS } from "../../../../services/runtime/topics.ts";

const DAY_MS = 86_400_000;
const WISHES = { partitions: 6, replicationFactor: 3, journalKeepMs: 9 * DAY_MS };

function facts(given: Partial<TopicFacts> = {}): readonly TopicFacts[] {
  return TOPICS.map((topic) => ({
    ...{ topic, name: `x.${topic}`, partitions: 6, replicationFactor: 3 },
    ...{ cleanupPolicy: "delete", retentionMs: 9 * DAY_MS, retentionBytes: -1 },
    ...{ minInsyncReplicas: 2, timestampType: "LogAppendTime", messageBytesMax: 1_048_588 },
    ...given,
  }));
}

function only(topic: TopicFacts["topic"], given: Partial<TopicFacts>): readonly TopicFacts[] {
  return facts().map((one) => (one.topic === topic ? { ...one, ...given } : one));
}

describe("planTopics", () => {
  it("does nothing where all is as it should be, or kept for longer", () => {
    expect(planTopics(facts(), WISHES)).toEqual([]);
    expect(planTopics(facts({ retentionMs: -1 }), WISHES)).toEqual([]);
  });

  it("makes what is missing with the partitions of what is there", () => {
    const [action] = planTopics(only("alerts", { partitions: 0 }), { ...WISHES, partitions: 99 });

    expect(action).toMatchObject({
      ...{ type: "create", topic: "alerts", partitions: 6, replicationFactor: 3 },
      settings: { "message.timestamp.type": "LogAppendTime", "min.insync.replicas": "2" },
    });
  });

  it("keeps the journal for as long as the policy needs", () => {
    const actions = planTopics(facts({ partitions: 0 }), WISHES);

    const kept = actions.map((one) => (one.type === "create" ? one.settings["retention.ms"] : ""));
    expect(kept).toEqual(TOPICS.map((topic) => String((topic === "decisions" ? 9 : 7) * DAY_MS)));
  });

  it.each([
    ["cleanup.policy", { cleanupPolicy: "compact" }, "delete", "compact"],
    ["message.timestamp.type", { timestampType: "CreateTime" }, "LogAppendTime", "CreateTime"],
    ["retention.ms", { retentionMs: DAY_MS }, String(9 * DAY_MS), String(DAY_MS)],
    ["retention.bytes", { retentionBytes: 5 }, "-1", "5"],
    ["min.insync.replicas", { minInsyncReplicas: 1 }, "2", "1"],
  ])("sets %s alone where that is wrong", (key, given, wanted, now) => {
    expect(planTopics(only("decisions", given), WISHES)).toEqual([
      {
        ...{ type: "configure", topic: "decisions", name: "x.decisions" },
        ...{ settings: { [key]: wanted }, before: { [key]: now } },
      },
    ]);
  });

  it("asks nothing of replicas that there are not", () => {
    const alone = facts({ replicationFactor: 1, minInsyncReplicas: 1 });

    expect(planTopics(alone, { ...WISHES, replicationFactor: 1 })).toEqual([]);
  });

  it("leaves partitions that differ to a person", () => {
    const [action] = planTopics(only("results", { partitions: 3 }), WISHES);

    expect(action).toMatchObject({ type: "conflict", topic: "results" });
  });
});
