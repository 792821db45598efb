import { TOPICS, type Topic } from "../../runtime/topics.ts";

/** The name of each topic in the cluster. */
export type TopicNames = { readonly [topic in Topic]: string };

/** Which word of its name tells a topic; the whole name is `<prefix>.<word>.v1`. */
const WORDS: TopicNames = {
  proposals: "proposed",
  results: "results",
  verdicts: "verdicts",
  allowed: "allowed",
  refused: "refused",
  held: "held",
  decisions: "decisions",
  deadLetters: "dead-letter",
  alerts: "alerts",
};

/** Every topic under a prefix; a name that is given for itself is taken as it is. */
export function topicNames(
  prefix: string,
  given: { readonly [topic in Topic]?: string | undefined } = {},
): TopicNames {
  const names = TOPICS.map((topic) => [topic, given[topic] ?? `${prefix}.${WORDS[topic]}.v1`]);
  return Object.fromEntries(names) as TopicNames;
}
