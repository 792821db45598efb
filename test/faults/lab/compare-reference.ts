// Compares the journal's decisions with those of the reference engine, fed in the journal's order.
import type { GateEvent } from "../../../services/core/events.ts";
import type { GateInput } from "../../../services/core/inputs.ts";
import type { CompiledPolicy } from "../../../services/core/policy/compiled.ts";
import type { JournalRecord } from "../../../services/runtime/journal.ts";
import type { InputTopic } from "../../../services/runtime/topics.ts";
import { type Answer, answerOf } from "../../support/reference-engine/answer.ts";
import { ReferenceEngine } from "../../support/reference-engine/reference-engine.ts";

/** A tick handles at most so many conversations at once. */
const TICK_CONVERSATIONS_MAX = 100;
const DISAGREEMENTS_MAX = 5;

/** Only for journals that were decided by one policy, since the reference engine has only one. */
export function disagreements(
  journal: readonly JournalRecord[],
  policies: readonly CompiledPolicy[],
): readonly string[] {
  const [policy] = policies;
  if (policy === undefined || policies.length > 1) return [];
  const engines = new Map<string, ReferenceEngine>();
  const clocks: Record<InputTopic, number> = { proposals: 0, results: 0, verdicts: 0 };
  const problems: string[] = [];
  for (const { seq, input, events } of journal) {
    if (input.type === "idle" || problems.length >= DISAGREEMENTS_MAX) continue;
    const { topic, appendTimeMs } = input.at;
    clocks[topic] = Math.max(clocks[topic], appendTimeMs);
    if (input.type !== "decided") continue;
    for (const key of concerned(input.input, events, engines)) {
      const engine = engines.get(key) ?? new ReferenceEngine(policy);
      engines.set(key, engine);
      const expected = engine.answer(input.input, clocks[topic]);
      const answers = events.filter((event) => keyOf(event) === key).map(answerOf);
      const [ours, theirs] = [textOf(answers), textOf(expected)];
      if (ours !== theirs)
        problems.push(`seq ${seq}, ${key}: decided ${ours}, reference ${theirs}`);
    }
  }
  return problems;
}

function concerned(
  input: GateInput,
  events: readonly GateEvent[],
  engines: ReadonlyMap<string, ReferenceEngine>,
): readonly string[] {
  if (input.type !== "tick") return [`${input.tenantId}/${input.conversationId}`];
  const keys = [...new Set(events.map(keyOf))];
  return keys.length >= TICK_CONVERSATIONS_MAX ? keys : [...engines.keys()];
}

function keyOf({ tenantId, conversationId }: GateEvent): string {
  return `${tenantId}/${conversationId}`;
}

function textOf(answers: readonly Answer[]): string {
  const sorted = [...answers].sort((a, b) =>
    (a.decisionId ?? "") < (b.decisionId ?? "") ? -1 : 1,
  );
  return JSON.stringify(sorted);
}
