/** What `callgate doctor` reports about topics: what stops a process, and what may lose data. */
import { checkTopics } from "../../gate/start-checks.ts";
import type { TopicFacts } from "../../runtime/ports.ts";
import { isInputTopic, JOURNAL_TOPIC } from "../../runtime/topics.ts";
import { ANY_CODEC, JOURNAL_KEEP_MS } from "./plan-topics.ts";

/** What the gate and the other processes refuse to start on. @param keepMs see `neededKeepMs`. */
export function topicProblems(
  facts: readonly TopicFacts[],
  keepMs: number | null,
): readonly string[] {
  const refused = checkTopics(facts, { keepMs: keepMs ?? 0 });
  return [
    ...refused.map(({ topic, message, remedy }) => `\`${topic}\` ${message}: ${remedy}`),
    ...facts.flatMap((one) => alertsProblem(one, facts)),
  ];
}

/** The gate does not use the alerts topic, but executors, analytics and clients open all topics. */
function alertsProblem(
  { topic, name, partitions }: TopicFacts,
  facts: readonly TopicFacts[],
): readonly string[] {
  const wanted = facts.find((one) => one.topic === JOURNAL_TOPIC)?.partitions ?? 0;
  if (topic !== "alerts" || partitions === wanted) return [];
  const who = "the gate works without it; executors, analytics and clients do not";
  if (partitions === 0) {
    return [`\`${name}\` does not exist: make it with \`callgate topics apply\`; ${who}`];
  }
  return [
    `\`${name}\` has ${partitions} partitions, the others ${wanted}: delete it, and create it again with ` +
      `\`callgate topics apply\`; ${who}`,
  ];
}

/**
 * A journal that is limited by size is not a warning: the gate refuses to start on it. @param
 * keepMs see `neededKeepMs`.
 */
export function topicWarnings(
  facts: readonly TopicFacts[],
  keepMs: number | null,
): readonly string[] {
  return [
    ...cutOff(facts),
    ...anyCodec(facts),
    ...(keepMs === null ? describeShortRetention(facts) : []),
  ];
}

function describeShortRetention(facts: readonly TopicFacts[]): readonly string[] {
  return facts
    .filter(
      ({ topic, retentionMs }) =>
        topic === JOURNAL_TOPIC && retentionMs !== -1 && retentionMs < JOURNAL_KEEP_MS,
    )
    .map(
      ({ name, retentionMs }) =>
        `\`${name}\` is kept for ${retentionMs} ms, and we create it with ${JOURNAL_KEEP_MS}: the gate's policy ` +
        "says what is needed; add it to `policy.files` to have it compared",
    );
}

function anyCodec(facts: readonly TopicFacts[]): readonly string[] {
  return facts
    .filter(({ topic, compressionType }) => isInputTopic(topic) && compressionType === ANY_CODEC)
    .map(
      ({ name }) =>
        `\`${name}\` stores records with whatever codec their producers choose, and a codec that the gate ` +
        "does not know makes dead letters of them: set its compression.type to lz4 (`callgate topics apply` does)",
    );
}

function cutOff(facts: readonly TopicFacts[]): readonly string[] {
  return facts
    .filter(({ topic, retentionBytes }) => topic !== JOURNAL_TOPIC && retentionBytes !== -1)
    .map(({ topic, name, retentionBytes }) => {
      const lost = isInputTopic(topic)
        ? "what is not decided yet"
        : "what its readers have not taken yet";
      return (
        `\`${name}\` is limited to ${retentionBytes} bytes, whatever the age of its records, and ${lost} ` +
        "is lost: set its retention.bytes to -1 (`callgate topics apply` does)"
      );
    });
}
