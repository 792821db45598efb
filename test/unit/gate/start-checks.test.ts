import { describe, expect, it } from "vitest";
import { checkTopics, describeStartProblems } from "../../../services/gate/start-checks.ts";
import type { TopicFacts } from "../../../services/runtime/ports.ts";
import { TOPICS, type Topic } from "../../../services/runtime/topics.ts";

const KEEP_MS = 9 * 86_400_000;

const facts = (changes: { readonly [topic in Topic]?: Partial<TopicFacts> } = {}): TopicFacts[] =>
  TOPICS.map((topic) => ({
    topic,
    name: `toolcalls.${topic}`,
    partitions: 4,
    replicationFactor: 3,
    cleanupPolicy: "delete",
    retentionMs: KEEP_MS,
    retentionBytes: -1,
    minInsyncReplicas: 2,
    timestampType: "LogAppendTime",
    compressionType: "lz4",
    messageBytesMax: 1_048_588,
    ...changes[topic],
  }));

const listProblems = (changes: { readonly [topic in Topic]?: Partial<TopicFacts> }): string[] =>
  checkTopics(facts(changes), { keepMs: KEEP_MS }).map(
    ({ topic, message }) => `${topic} ${message}`,
  );

describe("the checks of topics at the start", () => {
  it("find nothing wrong with correct topics", () => {
    expect(listProblems({})).toEqual([]);
    expect(listProblems({ decisions: { retentionMs: -1 } })).toEqual([]);
    expect(listProblems({ allowed: { replicationFactor: 1, minInsyncReplicas: 1 } })).toEqual([]);
  });

  it("find a policy whose effects happen once in all conversations of a tenant", () => {
    const problems = checkTopics(facts(), { keepMs: KEEP_MS, scopesToTenant: true });
    expect(problems).toHaveLength(1);
    expect(describeStartProblems(problems)).toContain("leave `scope: tenant` out of the policy");
  });

  it("find a missing topic, and report nothing else of it", () => {
    const missing = { partitions: 0, replicationFactor: 0, cleanupPolicy: "", timestampType: "" };
    expect(listProblems({ held: missing })).toEqual(["toolcalls.held does not exist"]);
  });

  it("find a topic with another number of partitions than the journal", () => {
    expect(listProblems({ results: { partitions: 6 } })).toEqual([
      "toolcalls.results has 6 partitions and `toolcalls.decisions` has 4",
    ]);
  });

  it("find a compacted topic, alone and together with deletion", () => {
    expect(listProblems({ allowed: { cleanupPolicy: "compact" } })).toHaveLength(1);
    expect(listProblems({ decisions: { cleanupPolicy: "compact,delete" } })).toHaveLength(1);
  });

  it("find a topic whose times producers set", () => {
    expect(listProblems({ proposals: { timestampType: "CreateTime" } })).toEqual([
      "toolcalls.proposals takes the time of records from their producers (CreateTime)",
    ]);
  });

  it("find a topic with three replicas that acknowledges with one", () => {
    expect(listProblems({ decisions: { minInsyncReplicas: 1 } })).toHaveLength(1);
  });

  it("find a journal with too short a retention, by time or by bytes", () => {
    expect(listProblems({ decisions: { retentionMs: KEEP_MS - 1 } })).toHaveLength(1);
    expect(listProblems({ decisions: { retentionBytes: 1_000_000 } })).toHaveLength(1);
    expect(listProblems({ proposals: { retentionMs: 1, retentionBytes: 1 } })).toEqual([]);
  });

  it("ignore a topic that the gate does not use", () => {
    expect(listProblems({ alerts: { partitions: 0, cleanupPolicy: "compact" } })).toEqual([]);
  });

  it("report all problems at once, each with a remedy", () => {
    const problems = checkTopics(
      facts({
        held: { partitions: 0 },
        decisions: { retentionMs: 1, timestampType: "CreateTime" },
      }),
      { keepMs: KEEP_MS },
    );
    const text = describeStartProblems(problems);
    expect(problems).toHaveLength(3);
    expect(text).toContain(
      "`toolcalls.held` does not exist: create it with `callgate topics apply`",
    );
    expect(text).toContain(`set its retention.ms to ${KEEP_MS} or more`);
  });
});
