/**
 * Reasons that fired without being enforced: notes for the model (`warn`) or for the record
 * (`shadow`).
 */
import { joinSentences } from "../hidden-text.ts";
import { LIMITS } from "../limits.ts";
import type { Mode, ReasonCode } from "../reasons/reasons.ts";
import { REASONS } from "../reasons/reasons.ts";
import { NO_NOTICES } from "./draft-decision.ts";

/**
 * The sentences of a reason describe a refused call: this prefix makes them true of a call that
 * runs.
 */
const RUNS = "This call runs: the rule only warns. Where it is enforced, it says:";

/** Collects notices while a call is judged. Most calls get none. */
export class Advice {
  notices = NO_NOTICES;

  add(mode: Mode, reason: ReasonCode, rule: string, detail: string | null): void {
    if (mode !== "warn" && mode !== "shadow") return;
    const list = mode === "warn" ? this.notices.warnings : this.notices.shadow;
    if (list.length >= LIMITS.noticesPerDecision) return;
    const { modelText } = REASONS[reason];
    const message = joinSentences([mode === "warn" ? RUNS : null, modelText, detail]);
    const longer = [...list, { reason, rule, message }];
    this.notices = { ...this.notices, [mode === "warn" ? "warnings" : "shadow"]: longer };
  }
}
