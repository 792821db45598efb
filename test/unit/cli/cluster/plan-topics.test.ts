import { describe, expect, it } from "vitest";
import { planTopics, topicNotes } from "../../../../services/cli/cluster/plan-topics.ts";
import type { TopicFacts } from "../../../../services/runtime/ports.ts";
import { TOPICS } from "../../../../services/runtime/topics.ts";

const DAY_MS = 86_400_000;
const WISHES = { partitions: undefined, replicationFactor: 3, journalKeepMs: 9 * DAY_MS };

function facts(overrides: Partial<TopicFacts> = {}): readonly TopicFacts[] {
  return TOPICS.map((topic) => ({
    ...{ topic, name: `x.${topic}`, partitions: 6, replicationFactor: 3 },
    ...{ cleanupPolicy: "delete", retentionMs: 9 * DAY_MS, retentionBytes: -1 },
    ...{
      minInsyncReplicas: 2,
      timestampType: "LogAppendTime",
      compressionType: "lz4",
      messageBytesMax: 1_048_588,
    },
    ...overrides,
  }));
}

function only(topic: TopicFacts["topic"], overrides: Partial<TopicFacts>): readonly TopicFacts[] {
  return facts().map((one) => (one.topic === topic ? { ...one, ...overrides } : one));
}

describe("planTopics", () => {
  it("changes nothing if the settings are right or the retention is longer", () => {
    expect(planTopics(facts(), WISHES)).toEqual([]);
    expect(planTopics(facts({ retentionMs: -1 }), WISHES)).toEqual([]);
  });

  it("accepts another number of replicas unless a number was requested", () => {
    const single = only("held", { replicationFactor: 1, minInsyncReplicas: 1 });
    expect(planTopics(single, WISHES)).toEqual([]);
    const [action, ...others] = planTopics(single, { ...WISHES, isReplicationAsked: true });
    expect(others).toEqual([]);
    expect(action).toMatchObject({
      ...{ type: "conflict", name: "x.held" },
      message: expect.stringMatching(/^has 1 replica, not 3: .*reassign.*leave out --replication$/),
    });
  });

  it("creates missing topics with the partitions of existing ones", () => {
    const [action] = planTopics(only("alerts", { partitions: 0 }), WISHES);

    expect(action).toMatchObject({
      ...{ type: "create", topic: "alerts", partitions: 6, replicationFactor: 3 },
      settings: { "message.timestamp.type": "LogAppendTime", "min.insync.replicas": "2" },
    });
  });

  it("creates the journal with the retention that the policy requires", () => {
    const actions = planTopics(facts({ partitions: 0 }), WISHES);

    const retentions = actions.map((one) =>
      one.type === "create" ? one.settings["retention.ms"] : "",
    );
    expect(retentions).toEqual(
      TOPICS.map((topic) => String((topic === "decisions" ? 9 : 7) * DAY_MS)),
    );
  });

  it.each([
    ["cleanup.policy", { cleanupPolicy: "compact" }, "delete", "compact"],
    ["message.timestamp.type", { timestampType: "CreateTime" }, "LogAppendTime", "CreateTime"],
    ["retention.ms", { retentionMs: DAY_MS }, String(9 * DAY_MS), String(DAY_MS)],
    ["retention.bytes", { retentionBytes: 5 }, "-1", "5"],
    ["min.insync.replicas", { minInsyncReplicas: 1 }, "2", "1"],
  ])("corrects only %s if that is wrong", (key, overrides, wanted, now) => {
    expect(planTopics(only("decisions", overrides), WISHES)).toEqual([
      {
        ...{ type: "configure", topic: "decisions", name: "x.decisions" },
        ...{ settings: { [key]: wanted }, before: { [key]: now } },
      },
    ]);
  });

  it("leaves a shorter retention unchanged, and notes that it is below the default", () => {
    const hours = 4 * 3_600_000;
    const shorter = facts().map((one) =>
      one.topic === "proposals" || one.topic === "allowed" ? { ...one, retentionMs: hours } : one,
    );

    expect(planTopics(shorter, WISHES)).toEqual([]);
    const message = (lost: string) =>
      `retention.ms=14400000 is left as it is (604800000 for a topic that we create): ${lost} by then is lost`;
    expect(topicNotes(shorter, 9 * DAY_MS)).toEqual([
      { topic: "proposals", name: "x.proposals", message: message("what no gate has decided") },
      { topic: "allowed", name: "x.allowed", message: message("what its readers have not taken") },
    ]);
    expect(topicNotes(facts(), 9 * DAY_MS)).toEqual([]);
  });

  it("leaves a journal whose retention satisfies the policy but not the default", () => {
    const week = only("decisions", { retentionMs: 7 * DAY_MS });
    expect(planTopics(week, { ...WISHES, journalKeepMs: 3 * DAY_MS })).toEqual([]);
    expect(
      planTopics(facts({ partitions: 0 }), { ...WISHES, journalKeepMs: 3 * DAY_MS }),
    ).toContainEqual(
      expect.objectContaining({
        topic: "decisions",
        settings: expect.objectContaining({ "retention.ms": String(9 * DAY_MS) }),
      }),
    );
  });

  it("raises too short a retention of the journal to what the policy requires, and no further", () => {
    const day = only("decisions", { retentionMs: DAY_MS });
    expect(planTopics(day, { ...WISHES, journalKeepMs: 3 * DAY_MS })).toMatchObject([
      { type: "configure", settings: { "retention.ms": String(3 * DAY_MS) } },
    ]);
  });

  it("leaves the journal unchanged without a policy, and notes that", () => {
    const day = only("decisions", { retentionMs: DAY_MS });
    expect(planTopics(day, { ...WISHES, journalKeepMs: null })).toEqual([]);
    expect(topicNotes(day, null)).toEqual([
      {
        ...{ topic: "decisions", name: "x.decisions" },
        message: expect.stringMatching(/^retention\.ms=86400000 is left as it is .* policy/),
      },
    ]);
    expect(topicNotes(day, 1)).toEqual([]);
  });

  it("asks to recreate alerts with another number of partitions, and does not ask for a new journal", () => {
    expect(planTopics(only("alerts", { partitions: 2 }), WISHES)).toEqual([
      {
        ...{ type: "conflict", topic: "alerts", name: "x.alerts" },
        message: expect.stringContaining("delete it, and create it again"),
      },
    ]);
  });

  it.each([
    [12, 12],
    [undefined, 4],
  ])(
    "creates the gate's topics with %s partitions beside alerts with another number",
    (wished, made) => {
      const alone = facts().map((one) => ({ ...one, partitions: one.topic === "alerts" ? 1 : 0 }));
      const actions = planTopics(alone, { ...WISHES, partitions: wished });

      expect(actions.map((one) => [one.type, one.topic])).toEqual(
        TOPICS.map((topic) => [topic === "alerts" ? "conflict" : "create", topic]),
      );
      const counts = actions.map((one) => (one.type === "create" ? one.partitions : made));
      expect(new Set(counts)).toEqual(new Set([made]));
      expect(actions.at(-1)).toMatchObject({
        message: expect.stringContaining(`has 1 partitions, the others ${made}: delete it`),
      });
    },
  );

  it("requires no replicas beyond the available ones", () => {
    const alone = facts({ replicationFactor: 1, minInsyncReplicas: 1 });

    expect(planTopics(alone, { ...WISHES, replicationFactor: 1 })).toEqual([]);
  });

  it("creates all topics with the requested number of partitions, or with four", () => {
    const countsOf = (partitions: number | undefined) =>
      planTopics(facts({ partitions: 0 }), { ...WISHES, partitions }).map((one) =>
        one.type === "create" ? one.partitions : 0,
      );

    expect(new Set(countsOf(12))).toEqual(new Set([12]));
    expect(new Set(countsOf(undefined))).toEqual(new Set([4]));
  });

  it("reports that the number of partitions cannot be changed", () => {
    const wishes = { ...WISHES, partitions: 8 };

    expect(planTopics(facts(), { ...WISHES, partitions: 6 })).toEqual([]);
    expect(planTopics(facts(), wishes)).toEqual([
      {
        ...{ type: "conflict", topic: "decisions", name: "x.decisions" },
        message: expect.stringMatching(/^has 6 partitions, not 8: the number cannot be changed/),
      },
    ]);
    expect(planTopics(only("decisions", { partitions: 0 }), wishes)).toContainEqual(
      expect.objectContaining({ type: "conflict", topic: "proposals" }),
    );
  });

  it("leaves differing partitions to a person", () => {
    const [action] = planTopics(only("results", { partitions: 3 }), WISHES);

    expect(action).toMatchObject({ type: "conflict", topic: "results" });
  });
});
