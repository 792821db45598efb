/** Reasons that fired without being enforced: notes for the model (`warn`) or the record (`shadow`). */
import type { DecisionEvent, Notice } from "../events.ts";
import { toldText } from "../hidden-text.ts";
import { LIMITS } from "../limits.ts";
import type { Mode, ReasonCode } from "../reasons/reasons.ts";
import { REASONS } from "../reasons/reasons.ts";

/** The sentences of a reason tell of a call that was refused: of one that runs they are not true. */
const RUNS = "This call runs: the rule only warns. Where it is enforced, it says:";

const NONE: readonly Notice[] = [];

/** Filled while a call is judged. Most calls get none. */
export class Advice {
  warnings = NONE;
  shadow = NONE;

  add(mode: Mode, reason: ReasonCode, rule: string, detail: string | null): void {
    if (mode !== "warn" && mode !== "shadow") return;
    const list = mode === "warn" ? this.warnings : this.shadow;
    if (list.length >= LIMITS.noticesPerDecision) return;
    const { model } = REASONS[reason];
    const message = toldText([mode === "warn" ? RUNS : null, model, detail]);
    const longer = [...list, { reason, rule, message }];
    if (mode === "warn") this.warnings = longer;
    else this.shadow = longer;
  }
}

export function withAdvice<E extends DecisionEvent>(event: E, advice: Advice): E {
  if (advice.warnings.length === 0 && advice.shadow.length === 0) return event;
  return { ...event, warnings: advice.warnings, shadow: advice.shadow };
}
