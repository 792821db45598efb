/** Finds other installations that have the same consumer group, which `doctor` warns of. */
import { createKafka, type KafkaSettings } from "../../adapters/kafka/client.ts";
import { findTopicsOfGroup } from "../../adapters/kafka/membership/topics-of-group.ts";
import { quietLogger } from "../../runtime/quiet-logger.ts";

/**
 * A warning for each group that also reads topics that are not ours. A group that this user may not
 * describe is left out.
 */
export async function findSharedGroups(
  settings: KafkaSettings,
  groups: readonly string[],
  names: readonly string[],
): Promise<readonly string[]> {
  const kafka = createKafka(settings, quietLogger);
  const warnings: string[] = [];
  for (const group of groups) {
    const topics = await findTopicsOfGroup(kafka, group).catch(() => []);
    const foreign = topics.filter((topic) => !names.includes(topic));
    if (foreign.length > 0) warnings.push(describeShared(group, foreign));
  }
  return warnings;
}

function describeShared(group: string, topics: readonly string[]): string {
  const listed = topics.map((topic) => `\`${topic}\``).join(", ");
  return (
    `the group \`${group}\` reads ${listed} too: another environment has the same group. Give each a ` +
    "`kafka.topicPrefix` of its own, and leave `kafka.app`, `kafka.group` and `executor.group` out: they follow it"
  );
}
