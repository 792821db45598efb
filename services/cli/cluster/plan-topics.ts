/** Plans the changes that bring the topics to their intended settings. */
import { journalKeepMs } from "../../gate/gate-engine.ts";
import type { GatePolicy } from "../../gate/gate-policy.ts";
import type { TopicFacts } from "../../runtime/ports.ts";
import { isInputTopic, JOURNAL_TOPIC, type Topic } from "../../runtime/topics.ts";
import { counted } from "../output/text.ts";

type TopicWishes = {
  /** Undefined: as many as the existing topics of the gate have. */
  readonly partitions: number | undefined;
  readonly replicationFactor: number;
  /** The operator set the number: topics with another one conflict. */
  readonly isReplicationAsked?: boolean;
  /**
   * Minimum retention of the journal in ms; null: no policy says. A new journal gets at least the
   * default.
   */
  readonly journalKeepMs: number | null;
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
      /** The current values of the same keys. */
      readonly before: Readonly<Record<string, string>>;
    }
  /** Only a person can resolve it. */
  | {
      readonly type: "conflict";
      readonly topic: Topic;
      readonly name: string;
      readonly message: string;
    };

/** A deviation from the default that is left to the operator. */
export type TopicNote = {
  readonly topic: Topic;
  readonly name: string;
  readonly message: string;
};

/** The gate works without it, and no decision depends on it. */
export const ALERTS_TOPIC = "alerts" satisfies Topic;
const DAY_MS = 86_400_000;
/** Inputs are needed until they are decided, outputs until they are consumed. */
const KEEP_MS = 7 * DAY_MS;
const REPLICATED = 3;
/** Brokers store input records with it, whatever codec their producers chose. */
const INPUT_CODEC = "lz4";
/** Value of `compression.type` for which a broker keeps the codecs of the producers. */
export const ANY_CODEC = "producer";
/** For new topics; the help of `topics plan` states it. */
const PARTITIONS_DEFAULT = 4;

/** Changes in the order of the topics; empty: no change is needed. */
export function planTopics(
  facts: readonly TopicFacts[],
  wishes: TopicWishes,
): readonly TopicAction[] {
  // The alerts topic does not count: it is recreated if it differs, and may exist alone.
  const present = facts.filter(({ topic, partitions }) => partitions > 0 && topic !== ALERTS_TOPIC);
  const journal = present.find(({ topic }) => topic === JOURNAL_TOPIC) ?? present[0];
  const partitions = journal?.partitions ?? wishes.partitions ?? PARTITIONS_DEFAULT;
  const wished = wishes.partitions ?? partitions;
  const unequal =
    journal === undefined || wished === partitions ? [] : [otherwise(journal, wished)];
  const actions = facts.flatMap((one): readonly TopicAction[] => {
    if (one.partitions > 0) {
      return [...conflicts(one, partitions), ...copies(one, wishes), ...changes(one, wishes)];
    }
    const { replicationFactor } = wishes;
    const full = settingsOf(one.topic, wishes, replicationFactor);
    return [
      {
        type: "create" as const,
        ...{ topic: one.topic, name: one.name, partitions, replicationFactor, settings: full },
      },
    ];
  });
  return [...unequal, ...actions];
}

/** The operator asked for a number that the topics do not have. */
function otherwise({ topic, name, partitions }: TopicFacts, wished: number): TopicAction {
  const message =
    `has ${partitions} partitions, not ${wished}: the number cannot be changed, because conversations would ` +
    "move to other partitions; leave out --partitions, or begin under a new prefix";
  return { type: "conflict", topic, name, message };
}

/**
 * Topics with a shorter retention than the default: hours may be intended if arguments are
 * sensitive. Includes the journal if no policy says what it needs.
 */
export function topicNotes(
  facts: readonly TopicFacts[],
  journalKeepMs: number | null,
): readonly TopicNote[] {
  const shorter = facts.filter(
    ({ topic, partitions, retentionMs }) =>
      partitions > 0 && retentionMs !== -1 && retentionMs < defaultKeepMs(topic),
  );
  const left = shorter.filter(({ topic }) => topic !== JOURNAL_TOPIC || journalKeepMs === null);
  return left.map(({ topic, name, retentionMs }) => {
    const message =
      `retention.ms=${retentionMs} is left as it is (${defaultKeepMs(topic)} for a topic that we create): ` +
      whatIsLost(topic);
    return { topic, name, message };
  });
}

function whatIsLost(topic: Topic): string {
  if (topic === JOURNAL_TOPIC)
    return "only the gate's policy, which is not configured here, says what it needs";
  return `${isInputTopic(topic) ? "what no gate has decided" : "what its readers have not taken"} by then is lost`;
}

function defaultKeepMs(topic: Topic): number {
  return topic === JOURNAL_TOPIC ? JOURNAL_KEEP_MS : KEEP_MS;
}

function settingsOf(
  topic: Topic,
  wishes: TopicWishes,
  replicationFactor: number,
): Readonly<Record<string, string>> {
  const neededMs = topic === JOURNAL_TOPIC ? (wishes.journalKeepMs ?? 0) : 0;
  return {
    "cleanup.policy": "delete",
    "message.timestamp.type": "LogAppendTime",
    "retention.ms": String(Math.max(defaultKeepMs(topic), neededMs)),
    "retention.bytes": "-1",
    ...(isInputTopic(topic) ? { "compression.type": INPUT_CODEC } : {}),
    ...(replicationFactor >= REPLICATED ? { "min.insync.replicas": "2" } : {}),
  };
}

function conflicts(facts: TopicFacts, partitions: number): readonly TopicAction[] {
  if (facts.partitions === partitions) return [];
  const remedy =
    facts.topic === ALERTS_TOPIC
      ? "delete it, and create it again with `callgate topics apply`"
      : "a conversation has one partition in all topics; stop the gates and begin under a new prefix";
  const message = `has ${facts.partitions} partitions, the others ${partitions}: ${remedy}`;
  return [{ type: "conflict", topic: facts.topic, name: facts.name, message }];
}

/** The operator asked for a number of replicas that the topic does not have. */
function copies(
  { topic, name, replicationFactor: now }: TopicFacts,
  { replicationFactor: wished, isReplicationAsked }: TopicWishes,
): readonly TopicAction[] {
  if (isReplicationAsked !== true || now === wished) return [];
  const message =
    `has ${counted(now, "replica")}, not ${wished}: the brokers move replicas only by a reassignment ` +
    "(`kafka-reassign-partitions.sh`, with the brokers of each partition); do that, or leave out --replication";
  return [{ type: "conflict", topic, name, message }];
}

function changes(facts: TopicFacts, wishes: TopicWishes): readonly TopicAction[] {
  const settings = wantedOf(facts, wishes);
  const now: Readonly<Record<string, string>> = {
    "cleanup.policy": facts.cleanupPolicy,
    "message.timestamp.type": facts.timestampType,
    "retention.ms": String(facts.retentionMs),
    "retention.bytes": String(facts.retentionBytes),
    "min.insync.replicas": String(facts.minInsyncReplicas),
    "compression.type": facts.compressionType,
  };
  const differing = Object.entries(settings).filter(([key, value]) =>
    key === "retention.ms"
      ? !isRetentionEnough(facts, wishes)
      : !isEnough(key, now[key] ?? "", value),
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

/**
 * Settings of an existing topic: its journal needs only the required retention, whatever the
 * default.
 */
function wantedOf(
  { topic, replicationFactor }: TopicFacts,
  wishes: TopicWishes,
): Readonly<Record<string, string>> {
  const settings = settingsOf(topic, wishes, replicationFactor);
  const { journalKeepMs } = wishes;
  if (topic !== JOURNAL_TOPIC || journalKeepMs === null) return settings;
  return { ...settings, "retention.ms": String(journalKeepMs) };
}

/**
 * The retention of an existing topic is the operator's choice, which a start must not undo. Only a
 * journal whose retention is shorter than the policy requires stops the gate.
 */
function isRetentionEnough(
  { topic, retentionMs }: TopicFacts,
  { journalKeepMs }: TopicWishes,
): boolean {
  return topic !== JOURNAL_TOPIC || retentionMs === -1 || retentionMs >= (journalKeepMs ?? 0);
}

function isEnough(key: string, now: string, wanted: string): boolean {
  if (now === wanted) return true;
  // The gate reads every codec; what it cannot know is the codecs that producers choose.
  if (key === "compression.type") return now !== ANY_CODEC;
  return key === "min.insync.replicas" && Number(now) >= Number(wanted);
}

/** Retention of the journal, unless a policy requires more. */
export const JOURNAL_KEEP_MS = 9 * 86_400_000;

/**
 * The minimum retention of the journal that a gate with this policy requires; null without a
 * policy.
 */
export function neededKeepMs(policy: GatePolicy | undefined): number | null {
  return policy === undefined ? null : journalKeepMs(policy.compiled);
}
