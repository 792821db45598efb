/** Reasons that fired without being enforced: notes for the model (`warn`) or the record (`shadow`). */
import type { DecisionEvent, Notice } from "../events.ts";
import { LIMITS } from "../limits.ts";
import { REASON_SENTENCES } from "../reason-sentences.ts";
import type { Mode, ReasonCode } from "../reasons.ts";

export interface Advice {
  readonly warnings: Notice[];
  readonly shadow: Notice[];
  readonly add: (mode: Mode, reason: ReasonCode, rule: string, detail: string | null) => void;
}

/** The sentences of a reason tell of a call that was refused: of one that runs they are not true. */
const RUNS = "This call runs: the rule only warns. Where it is enforced, it says:";

export function noAdvice(): Advice {
  const warnings: Notice[] = [];
  const shadow: Notice[] = [];
  const add: Advice["add"] = (mode, reason, rule, detail) => {
    if (mode !== "warn" && mode !== "shadow") return;
    const list = mode === "warn" ? warnings : shadow;
    if (list.length >= LIMITS.noticesPerDecision) return;
    const { model } = REASON_SENTENCES[reason];
    const refusal = detail === null ? model : `${model} ${detail}`;
    list.push({ reason, rule, message: mode === "warn" ? `${RUNS} ${refusal}` : refusal });
  };
  return { warnings, shadow, add };
}

export function withAdvice<E extends DecisionEvent>(event: E, advice: Advice): E {
  if (advice.warnings.length === 0 && advice.shadow.length === 0) return event;
  return { ...event, warnings: advice.warnings, shadow: advice.shadow };
}
