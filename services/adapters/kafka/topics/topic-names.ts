import { nameUnder, TOPICS, type Topic } from "../../../runtime/topics.ts";

/** The name of each topic in the cluster. */
export type TopicNames = { readonly [topic in Topic]: string };

/** Every topic under a prefix; a name that is given for itself is taken as it is. */
export function topicNames(
  prefix: string,
  overrides: { readonly [topic in Topic]?: string | undefined } = {},
): TopicNames {
  const names = TOPICS.map((topic) => [topic, overrides[topic] ?? nameUnder(prefix, topic)]);
  return Object.fromEntries(names) as TopicNames;
}
