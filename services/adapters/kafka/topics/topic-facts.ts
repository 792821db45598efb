import { FatalError } from "../../../runtime/errors.ts";
import { TOPICS, type Topic } from "../../../runtime/topics.ts";
import type { DescribedCluster } from "./metadata-request.ts";
import type { TopicNames } from "./topic-names.ts";

/** What must not change while a process runs. */
export type TopicFacts = {
  readonly clusterId: string;
  readonly partitions: number;
  /** Ids of the used topics. */
  readonly ids: ReadonlyMap<Topic, string>;
};

const NO_ID = /^0*$/;

/**
 * @param used the topics that must exist.
 * @throws FatalError `log_mismatch` where topics are missing or differ in their partitions.
 */
export function topicFacts(
  cluster: DescribedCluster,
  names: TopicNames,
  used: readonly Topic[] = TOPICS,
): TopicFacts {
  const byName = new Map(cluster.topics.map((topic) => [topic.name, topic]));
  const descriptions = used.map((topic) => ({ topic, described: byName.get(names[topic]) }));
  const missing = descriptions.filter(
    ({ described }) => described === undefined || described.errorCode > 0,
  );
  if (missing.length > 0) {
    const list = missing.map(({ topic }) => `\`${names[topic]}\``).join(", ");
    throw new FatalError("log_mismatch", `the cluster has no topic ${list}, or it cannot be read`);
  }
  const counts = descriptions.map(({ topic, described }) => ({
    topic,
    count: described?.partitions ?? 0,
  }));
  const partitions = counts[0]?.count ?? 0;
  if (counts.some(({ count }) => count !== partitions)) {
    const list = counts.map(({ topic, count }) => `\`${names[topic]}\` ${count}`).join(", ");
    throw new FatalError(
      "log_mismatch",
      `all topics must have the same number of partitions: ${list}; \`callgate topics plan\` shows what to change`,
    );
  }
  const ids = new Map(
    descriptions.map(({ topic, described }) => [topic, described?.topicId ?? ""]),
  );
  if ([...ids.values()].some((id) => NO_ID.test(id))) {
    const text = "the cluster has no topic ids: upgrade it to Kafka 2.8 or newer";
    throw new FatalError("log_mismatch", text);
  }
  return { clusterId: cluster.clusterId, partitions, ids };
}

/**
 * Finds a change that must not happen, or null. A broker that has just started may not know a topic
 * yet, so an answer without a topic shows nothing.
 */
export function findChange(
  before: TopicFacts,
  cluster: DescribedCluster,
  names: TopicNames,
): FatalError | null {
  if (cluster.topics.some(({ errorCode }) => errorCode !== 0)) return null;
  try {
    return compareTopics(before, topicFacts(cluster, names, [...before.ids.keys()]), names);
  } catch (error) {
    if (error instanceof FatalError) return error;
    throw error;
  }
}

function compareTopics(before: TopicFacts, now: TopicFacts, names: TopicNames): FatalError | null {
  if (now.clusterId !== before.clusterId) {
    const text = `the brokers now belong to cluster \`${now.clusterId}\`, before to \`${before.clusterId}\``;
    return new FatalError("log_mismatch", text);
  }
  if (now.partitions !== before.partitions) {
    return new FatalError(
      "log_mismatch",
      `the topics had ${before.partitions} partitions and now have ${now.partitions}: conversations ` +
        "would change their partition. Move to new topics with that number instead",
    );
  }
  const remade = TOPICS.find((topic) => now.ids.get(topic) !== before.ids.get(topic));
  if (remade === undefined) return null;
  const text = `\`${names[remade]}\` was deleted and created again while it was read: restart`;
  return new FatalError("log_mismatch", text);
}
