/** Whether a gate has done what a person ruled, by what it journaled. */
import type { GateEvent, IgnoredWhy } from "../../core/events.ts";
import { IGNORED_SENTENCES } from "../approvals/send-verdict.ts";

/** A dead letter is journaled without any event. */
export type RulingIgnored = IgnoredWhy | "dead_letter";

/** Undefined: it is done, or no gate has taken it yet (null). */
export function whyNotRuled(events: readonly GateEvent[] | null): RulingIgnored | undefined {
  if (events === null) return undefined;
  if (events.some(({ type }) => type === "ruled" || type === "reconciled")) return undefined;
  return events.find((event) => event.type === "ignored")?.why ?? "dead_letter";
}

export const RULING_SENTENCES: Readonly<Record<RulingIgnored, string>> = {
  ...IGNORED_SENTENCES,
  approvals_required:
    "the tier asks for several approvals, and a grant has one giver: its calls are approved one by one; see callgate approvals list",
  dead_letter: "no gate can read it; see callgate dlq list",
};
