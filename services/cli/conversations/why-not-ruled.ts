/** Whether a gate has carried out a verdict, according to its journaled events. */
import type { GateEvent } from "../../core/events.ts";
import type { IgnoredWhy } from "../../core/ignored-why.ts";
import { IGNORED_SENTENCES } from "../approvals/send-verdict.ts";

/** A dead letter is journaled without events. */
export type RulingIgnored = IgnoredWhy | "dead_letter";

/** Undefined: carried out, or not processed by any gate yet (null). */
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
