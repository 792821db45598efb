/**
 * The topics of the pipeline by role. An adapter maps a role to a real topic name; every topic has
 * the same number of partitions.
 */
export const TOPICS = [
  "proposals",
  "results",
  "verdicts",
  "allowed",
  "refused",
  "held",
  "decisions",
  "deadLetters",
  "alerts",
] as const;

export type Topic = (typeof TOPICS)[number];

/** The word in a topic's default name that stands for its role. */
const WORDS: { readonly [topic in Topic]: string } = {
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

/** The default name of a topic. */
export function nameUnder(prefix: string, topic: Topic): string {
  return `${prefix}.${WORDS[topic]}.v1`;
}

/** The topics that the gate consumes. */
export const INPUT_TOPICS = ["proposals", "results", "verdicts"] as const;

export type InputTopic = (typeof INPUT_TOPICS)[number];

export function isInputTopic(topic: Topic): topic is InputTopic {
  return (INPUT_TOPICS as readonly Topic[]).includes(topic);
}

/** The topics that only the gate writes, beside its journal (`decisions`) and the dead letters. */
export type DecisionTopic = "allowed" | "refused" | "held";

/** The topic that is the gate's own journal. */
export const JOURNAL_TOPIC = "decisions";

/** One number for each input topic: an offset to read next, or a gate time in ms. */
export type PerInput = { readonly [topic in InputTopic]: number };

export const NO_POSITION: PerInput = { proposals: 0, results: 0, verdicts: 0 };

/** Written out: this runs twice for each input, and a spread costs several times as much. */
export function replaceTopic(all: PerInput, topic: InputTopic, value: number): PerInput {
  return {
    proposals: topic === "proposals" ? value : all.proposals,
    results: topic === "results" ? value : all.results,
    verdicts: topic === "verdicts" ? value : all.verdicts,
  };
}
