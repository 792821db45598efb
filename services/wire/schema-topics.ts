import type { Topic } from "../runtime/topics.ts";
import type { SchemaName } from "./schema-files.ts";

/** The schema of the values of each topic. */
export const TOPIC_SCHEMAS: { readonly [topic in Topic]: SchemaName } = {
  proposals: "proposed-call",
  results: "result",
  verdicts: "verdict",
  decisions: "decision-event",
  allowed: "allowed-call",
  refused: "refused-call",
  held: "held-call",
  deadLetters: "dead-letter",
  alerts: "alert",
};
