/** Verdicts on a held call: who, when and why. */
import type { DecisionEvent, VerdictRuled } from "../../core/events.ts";
import type { JournalRecord } from "../../runtime/journal.ts";
import { printable } from "../output/printable.ts";

/** One verdict; `atMs` is gate time. */
export type SaidVerdict = {
  readonly kind: string;
  readonly by: string;
  readonly reason: string | null;
  readonly atMs: number;
};

const TEXT_CHARACTERS = 500;

const TITLES: { readonly [kind: string]: string } & { readonly approve: string } = {
  approve: "approved by",
  deny: "denied by",
  cancel: "cancelled by",
};

/** One of several required approvals: it does not decide yet. */
export function earlierVerdict({ kind, by, reason, atMs }: VerdictRuled): SaidVerdict {
  return { kind, by, reason, atMs };
}

/**
 * The verdicts that led to a decision, in order: approvals that counted, and the one that decided.
 *
 * @param earlier verdicts before it with the decision's id and its `approvalId`.
 */
export function verdictsOn(
  event: DecisionEvent,
  { input }: Pick<JournalRecord, "input">,
  earlier: readonly SaidVerdict[],
): readonly SaidVerdict[] {
  if (event.approval.approvalId === null) return [];
  const said = earlier.filter(({ by }) => event.approval.approvedBy.includes(by));
  if (input.type !== "decided" || input.input.type !== "verdict") return said;
  const { kind, by, reason } = input.input;
  return [...said, { kind, by, reason, atMs: event.times.atMs }];
}

/** For people: a row for each person who approved, denied or cancelled. */
export function verdictRows(
  event: DecisionEvent,
  verdicts: readonly SaidVerdict[],
): readonly (readonly [string, string])[] {
  return event.approval.approvedBy.map((name) => {
    const said = verdicts.findLast(({ by }) => by === name);
    const title = TITLES[said?.kind ?? ""] ?? TITLES.approve;
    if (said === undefined) return [title, printable(name, TEXT_CHARACTERS)];
    const why = said.reason === null ? "" : `: ${printable(said.reason, TEXT_CHARACTERS)}`;
    const at = new Date(said.atMs).toISOString();
    return [title, `${printable(name, TEXT_CHARACTERS)} at ${at}${why}`];
  });
}
