import { describe, expect, it } from "vitest";
import { JOURNAL_KEEP_MS, neededKeepMs } from "../../../../services/cli/cluster/plan-topics.ts";
import { topicProblems, topicWarnings } from "../../../../services/cli/cluster/topic-problems.ts";
import type { TopicFacts } from "../../../../services/runtime/ports.ts";
import { TOPICS } from "../../../../services/runtime/topics.ts";

function facts(
  overrides: Partial<Record<TopicFacts["topic"], Partial<TopicFacts>>> = {},
): readonly TopicFacts[] {
  return TOPICS.map((topic) => ({
    ...{ topic, name: `x.${topic}`, partitions: 4, replicationFactor: 1 },
    ...{ cleanupPolicy: "delete", retentionMs: JOURNAL_KEEP_MS, retentionBytes: -1 },
    ...{
      minInsyncReplicas: 1,
      timestampType: "LogAppendTime",
      compressionType: "lz4",
      messageBytesMax: 1_048_588,
    },
    ...overrides[topic],
  }));
}

describe("the doctor's report on topics", () => {
  it("is empty if the topics are right", () => {
    expect(topicProblems(facts(), neededKeepMs(undefined))).toEqual([]);
    expect(topicWarnings(facts(), null)).toEqual([]);
  });

  it("has a problem if `alerts` is missing or differs, although the gate starts", () => {
    expect(topicProblems(facts({ alerts: { partitions: 2 } }), 1)).toEqual([
      expect.stringMatching(/^`x\.alerts` has 2 partitions, the others 4: delete it/),
    ]);
    expect(topicProblems(facts({ alerts: { partitions: 0 } }), 1)).toEqual([
      expect.stringMatching(/^`x\.alerts` does not exist: make it with/),
    ]);
  });

  it("has a warning for each topic that is limited by size, and a problem for the journal", () => {
    const cut = facts({ proposals: { retentionBytes: 1_000 }, held: { retentionBytes: 5 } });
    expect(topicProblems(cut, 1)).toEqual([]);
    expect(topicWarnings(cut, 1)).toEqual([
      expect.stringMatching(
        /^`x\.proposals` is limited to 1000 bytes, .* what is not decided yet is lost/,
      ),
      expect.stringMatching(
        /^`x\.held` is limited to 5 bytes, .* readers have not taken yet is lost/,
      ),
    ]);
    const journal = facts({ decisions: { retentionBytes: 5 } });
    expect(topicProblems(journal, 1)).toHaveLength(1);
    expect(topicWarnings(journal, 1)).toEqual([]);
  });

  it("has a warning for a short retention without a policy, and a problem if the policy needs more", () => {
    const short = facts({ decisions: { retentionMs: 1_000 } });
    expect(topicProblems(short, neededKeepMs(undefined))).toEqual([]);
    expect(topicWarnings(short, null)).toEqual([
      expect.stringMatching(/^`x\.decisions` is kept for 1000 ms, .*`policy\.files`/),
    ]);
    expect(topicProblems(short, 1_001)).toEqual([
      expect.stringMatching(/^`x\.decisions` is kept for 1000 ms and the policy needs 1001 ms/),
    ]);
    expect(topicWarnings(short, 1_001)).toEqual([]);
  });
});
