/**
 * Finds every property of the topics with which the gate could lose or repeat a call. The gate does
 * not start then, and says how to fix it.
 */
import type { TopicFacts } from "../runtime/ports.ts";
import { JOURNAL_TOPIC, TOPICS, type Topic } from "../runtime/topics.ts";

export type StartProblem = {
  /** The topic's name on the servers. */
  readonly topic: string;
  readonly message: string;
  /** How to fix it. */
  readonly remedy: string;
};

export type StartNeeds = {
  /** How long the journal must be retained, ms. */
  readonly keepMs: number;
  /** Whether some effect of the policy happens once in all conversations of a tenant. */
  readonly scopesToTenant?: boolean;
};

const REPLICATED = 3;
/** The topics that a gate needs. It neither reads nor writes the alerts. */
export const GATE_TOPICS: readonly Topic[] = TOPICS.filter((topic) => topic !== "alerts");

/** All problems at once; empty: the gate may start. */
export function checkTopics(
  all: readonly TopicFacts[],
  needs: StartNeeds,
): readonly StartProblem[] {
  const facts = all.filter(({ topic }) => GATE_TOPICS.includes(topic));
  const present = facts.filter(({ partitions }) => partitions > 0);
  return [
    ...facts.filter(({ partitions }) => partitions === 0).map(missing),
    ...unequal(present),
    ...present.flatMap((one) => [...checkOne(one), ...checkJournal(one, needs)]),
    ...(needs.scopesToTenant === true ? present.filter(isJournal).map(notOfTenant) : []),
  ];
}

/** All problems as one message. */
export function describeStartProblems(problems: readonly StartProblem[]): string {
  const lines = problems.map(({ topic, message, remedy }) => `\`${topic}\` ${message}: ${remedy}`);
  return `the gate does not start on these topics:\n${lines.join("\n")}`;
}

function missing({ name }: TopicFacts): StartProblem {
  const remedy = "create it with `callgate topics apply`, or correct the topic prefix";
  return { topic: name, message: "does not exist", remedy };
}

function unequal(facts: readonly TopicFacts[]): readonly StartProblem[] {
  const journal = facts.find(({ topic }) => topic === JOURNAL_TOPIC) ?? facts[0];
  if (journal === undefined) return [];
  const { partitions: right, name } = journal;
  return facts
    .filter(({ partitions }) => partitions !== right)
    .map((one) => ({
      topic: one.name,
      message: `has ${one.partitions} partitions and \`${name}\` has ${right}`,
      remedy:
        "a conversation has one partition in all topics; stop the gates, and give all topics " +
        "the same number under a new prefix",
    }));
}

function isJournal({ topic }: TopicFacts): boolean {
  return topic === JOURNAL_TOPIC;
}

/** No gate sees all conversations of a tenant. */
function notOfTenant({ name }: TopicFacts): StartProblem {
  return {
    topic: name,
    message:
      "is on Kafka, where no gate sees all conversations of a tenant, as `scope: tenant` of the policy needs",
    remedy: TENANT_SCOPE_REMEDY,
  };
}

export const TENANT_SCOPE_REMEDY =
  "leave `scope: tenant` out of the policy, or use a gate with its own log (a data directory)";

function checkOne(facts: TopicFacts): readonly StartProblem[] {
  const { name: topic, cleanupPolicy, timestampType, replicationFactor, minInsyncReplicas } = facts;
  const problems: StartProblem[] = [];
  if (cleanupPolicy.split(",").some((one) => one.trim() === "compact")) {
    problems.push({
      topic,
      message: "is compacted: records of one conversation would delete each other",
      remedy: "set its cleanup.policy to `delete`",
    });
  }
  if (timestampType !== "LogAppendTime") {
    problems.push({
      topic,
      message: `takes the time of records from their producers (${timestampType})`,
      remedy: "set its message.timestamp.type to `LogAppendTime`",
    });
  }
  if (replicationFactor >= REPLICATED && minInsyncReplicas < 2) {
    problems.push({
      topic,
      message: `has ${replicationFactor} replicas and acknowledges with ${minInsyncReplicas}: the loss of a broker could undo decisions`,
      remedy: "set its min.insync.replicas to 2",
    });
  }
  return problems;
}

function checkJournal(facts: TopicFacts, { keepMs }: StartNeeds): readonly StartProblem[] {
  if (facts.topic !== JOURNAL_TOPIC) return [];
  const { name: topic, retentionMs, retentionBytes } = facts;
  const problems: StartProblem[] = [];
  if (retentionMs !== -1 && retentionMs < keepMs) {
    problems.push({
      topic,
      message: `is kept for ${retentionMs} ms and the policy needs ${keepMs} ms (longest life of a conversation, longest hold, one day)`,
      remedy: `set its retention.ms to ${keepMs} or more, or shorten those times in the policy`,
    });
  }
  if (retentionBytes !== -1) {
    problems.push({
      topic,
      message: `is cut off at ${retentionBytes} bytes, however new its records are`,
      remedy: "set its retention.bytes to -1",
    });
  }
  return problems;
}
