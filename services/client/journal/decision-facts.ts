/** What the journal says about a decision besides the decision itself. */
import type {
  CallAllowed,
  CallReconciled,
  DecisionEvent,
  GateEvent,
  OutcomeUnknown,
  ResultRecorded,
  VerdictRuled,
} from "../../core/events.ts";
import { rulingKey } from "../../core/state/manual-grants.ts";
import type { JournalRecord } from "../../runtime/journal.ts";

/** One verdict; `atMs` is gate time. */
export type SaidVerdict = {
  readonly kind: string;
  readonly by: string;
  readonly reason: string | null;
  readonly atMs: number;
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

/** Whether the call used what this order granted; `key` is the grant that the call names. */
export function isGrantFor(call: CallAllowed, key: string, ruling: VerdictRuled): boolean {
  const { kind, tenantId, conversationId } = ruling;
  if (kind !== "grant" || tenantId !== call.tenantId) return false;
  return conversationId === call.conversationId && key === rulingKey(ruling);
}

export type CallResult = ResultRecorded | OutcomeUnknown | CallReconciled;

export function isCallResult(event: GateEvent): event is CallResult {
  const { type } = event;
  return type === "result_recorded" || type === "outcome_unknown" || type === "reconciled";
}

/** The rule that decided; null: none was against the call. */
export function ruleOfDecision(event: DecisionEvent): string | null {
  if (event.type === "refused") return event.refusal.rule;
  return event.type === "held" ? event.rule : null;
}
