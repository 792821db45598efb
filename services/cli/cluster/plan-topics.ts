/** What the topics should be like, and what it takes to get there. */
import type { TopicFacts } from "../../runtime/topic-facts.ts";
import { JOURNAL_TOPIC, type Topic } from "../../runtime/topics.ts";

export type TopicWishes = {
  readonly partitions: number;
  readonly replicationFactor: number;
  /** How long the journal must be kept at least, ms. */
  readonly journalKeepMs: number;
};

export type TopicAction =
  | {
      readonly type: "create";
      readonly topic: Topic;
      readonly name: string;
      readonly partitions: number;
      readonly replicationFactor: number;
      readonly settings: Readonly<Record<string, string>>;
    }
  | {
      readonly type: "configure";
      readonly topic: Topic;
      readonly name: string;
      readonly settings: Readonly<Record<string, string>>;
      /** What is set now, of the same keys. */
      readonly before: Readonly<Record<string, string>>;
    }
  /** Only a person can mend it. */
  | {
      readonly type: "conflict";
      readonly topic: Topic;
      readonly name: string;
      readonly message: string;
    };

const DAY_MS = 86_400_000;
/** Inputs are needed until they are decided, outputs until they are taken. */
const KEEP_MS = 7 * DAY_MS;
const REPLICATED = 3;

/** In the order of the topics; empty: they are as they should be. */
export function planTopics(
  facts: readonly TopicFacts[],
  wishes: TopicWishes,
): readonly TopicAction[] {
  const present = facts.filter(({ partitions }) => partitions > 0);
  const journal = present.find(({ topic }) => topic === JOURNAL_TOPIC) ?? present[0];
  const partitions = journal?.partitions ?? wishes.partitions;
  return facts.flatMap((one) => {
    const settings = settingsOf(one.topic, wishes, one.replicationFactor);
    if (one.partitions > 0) return [...conflicts(one, partitions), ...changes(one, settings)];
    const { replicationFactor } = wishes;
    const full = settingsOf(one.topic, wishes, replicationFactor);
    return [
      {
        type: "create" as const,
        ...{ topic: one.topic, name: one.name, partitions, replicationFactor, settings: full },
      },
    ];
  });
}

function settingsOf(
  topic: Topic,
  wishes: TopicWishes,
  replicationFactor: number,
): Readonly<Record<string, string>> {
  const keepMs = topic === JOURNAL_TOPIC ? Math.max(KEEP_MS, wishes.journalKeepMs) : KEEP_MS;
  return {
    "cleanup.policy": "delete",
    "message.timestamp.type": "LogAppendTime",
    "retention.ms": String(keepMs),
    "retention.bytes": "-1",
    ...(replicationFactor >= REPLICATED ? { "min.insync.replicas": "2" } : {}),
  };
}

function conflicts(facts: TopicFacts, partitions: number): readonly TopicAction[] {
  if (facts.partitions === partitions) return [];
  const message =
    `has ${facts.partitions} partitions, the others ${partitions}: a conversation has one partition ` +
    "number in all topics; stop the gates and begin under a new prefix";
  return [{ type: "conflict", topic: facts.topic, name: facts.name, message }];
}

/** Longer retention than ours is nobody's mistake. */
function changes(
  facts: TopicFacts,
  settings: Readonly<Record<string, string>>,
): readonly TopicAction[] {
  const now: Readonly<Record<string, string>> = {
    "cleanup.policy": facts.cleanupPolicy,
    "message.timestamp.type": facts.timestampType,
    "retention.ms": String(facts.retentionMs),
    "retention.bytes": String(facts.retentionBytes),
    "min.insync.replicas": String(facts.minInsyncReplicas),
  };
  const differing = Object.entries(settings).filter(
    ([key, value]) => !isEnough(key, now[key] ?? "", value),
  );
  if (differing.length === 0) return [];
  return [
    {
      type: "configure",
      ...{ topic: facts.topic, name: facts.name },
      settings: Object.fromEntries(differing),
      before: Object.fromEntries(differing.map(([key]) => [key, now[key] ?? ""])),
    },
  ];
}

function isEnough(key: string, now: string, wanted: string): boolean {
  if (now === wanted) return true;
  if (key === "retention.ms") return now === "-1" || Number(now) >= Number(wanted);
  return key === "min.insync.replicas" && Number(now) >= Number(wanted);
}
