/** Describes a decision for people who have never heard of this project. */
import type { ReasonCode } from "../../core/reasons/reasons.ts";

const WORDS: Partial<Readonly<Record<ReasonCode, string>>> = {
  duplicate_call: "done already, nothing changed since",
  side_effect_conflict: "billed already, by another tool",
  user_input_required: "repeated too often: ask the user",
  tool_frequency: "too soon: ask again in a moment",
  loop_repeat: "the same again without anything new",
  failure_streak: "failed the same way too often",
  approval_required: "waits for a person",
  approval_denied: "a person said no",
};

export function plainWords(reason: ReasonCode): string {
  return WORDS[reason] ?? reason.replaceAll("_", " ");
}
