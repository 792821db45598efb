/** Orders of a person that answer no held call: on grants, a conversation, or an unknown outcome. */
import type { GateEvent, IgnoredWhy } from "../../core/events.ts";
import { MANUAL_GRANT_CALLS_MAX, type VerdictInput } from "../../core/inputs.ts";
import { speakerProblem } from "../../core/speaker.ts";
import { CallgateError } from "../api/callgate-error.ts";
import type { ConversationRef, GrantOrder, GrantScope, Reconciliation } from "../api/gate-types.ts";
import { isValidReason, untilProblem, WRONG_REASON } from "./verdict.ts";

const DEFAULT_TENANT = "default";
const OUTCOMES: readonly unknown[] = ["succeeded", "failed", "not_executed"];

export type RulingKind = "grant" | "revoke" | "reconcile" | "resume" | "end";

type Ruling = Pick<VerdictInput, "kind" | "tenantId" | "conversationId" | "by"> &
  Partial<VerdictInput>;

/** A verdict with every member; what a ruling leaves out is null. */
export function verdictFrom(fields: Ruling): VerdictInput {
  return {
    type: "verdict",
    approvalId: null,
    decisionId: null,
    outcome: null,
    tier: null,
    tool: null,
    calls: null,
    untilMs: null,
    reason: null,
    ...fields,
  };
}

/** @throws CallgateError `invalid_input` */
export function grantInput(
  kind: "grant" | "revoke",
  conversation: ConversationRef,
  order: GrantOrder | GrantScope,
): VerdictInput {
  const { tier, tool, by, reason } = order;
  if ((tier === undefined) === (tool === undefined)) {
    throw invalid(`${kind} applies to one tier or one tool: pass \`tier\` or \`tool\``);
  }
  const { calls = 1, untilMs = null } = kind === "grant" ? (order as GrantOrder) : {};
  const isCount = Number.isInteger(calls) && Number(calls) > 0;
  if (calls !== "any" && !(isCount && Number(calls) <= MANUAL_GRANT_CALLS_MAX)) {
    throw invalid(
      `\`calls\` must be a whole number from 1 to ${MANUAL_GRANT_CALLS_MAX}, or \`any\``,
    );
  }
  const problem = untilProblem(untilMs, "untilMs");
  if (problem !== undefined) throw invalid(problem);
  const count = kind === "revoke" || calls === "any" ? null : calls;
  const scope = { tier: tier ?? null, tool: tool ?? null, calls: count, untilMs };
  return verdictFrom({ kind, ...nameOf(conversation), ...scope, ...saidOf({ by, reason }) });
}

/** @throws CallgateError `invalid_input` */
export function conversationInput(
  kind: "resume" | "end",
  conversation: ConversationRef,
  said: { readonly by: string; readonly reason?: string },
): VerdictInput {
  return verdictFrom({ kind, ...nameOf(conversation), ...saidOf(said) });
}

/** @throws CallgateError `invalid_input` */
export function reconcileInput(
  name: { readonly tenantId: string; readonly conversationId: string },
  decisionId: string,
  reconciliation: Reconciliation,
): VerdictInput {
  const { outcome } = reconciliation;
  if (!OUTCOMES.includes(outcome)) {
    throw invalid(`\`outcome\` must be one of ${OUTCOMES.join(", ")}`);
  }
  const { tenantId, conversationId } = name;
  const said = saidOf(reconciliation);
  return verdictFrom({ kind: "reconcile", tenantId, conversationId, decisionId, outcome, ...said });
}

function nameOf({ tenantId = DEFAULT_TENANT, conversationId }: ConversationRef) {
  for (const [name, value] of Object.entries({ tenantId, conversationId })) {
    if (typeof value !== "string" || value === "") throw invalid(`\`${name}\` must be text`);
  }
  return { tenantId, conversationId };
}

function saidOf({ by, reason }: { readonly by: string; readonly reason?: string | undefined }) {
  if (typeof by !== "string" || by.trim() === "") throw invalid("pass `by`: who gives the order");
  const problem = speakerProblem(by);
  if (problem !== undefined) throw invalid(problem);
  if (!isValidReason(reason)) throw invalid(WRONG_REASON);
  return { by, reason: reason ?? null };
}

function invalid(problem: string): CallgateError {
  return new CallgateError("invalid_input", `the order cannot be given: ${problem}`);
}

/** A dead letter is journaled without events. */
export type RulingIgnored = IgnoredWhy | "dead_letter";

/** Why an order changed nothing; undefined: it was carried out. */
export function whyNotRuled(events: readonly GateEvent[]): RulingIgnored | undefined {
  if (events.some(({ type }) => type === "ruled" || type === "reconciled")) return undefined;
  return events.find((event) => event.type === "ignored")?.why ?? "dead_letter";
}
