/**
 * One event of the journal as one flat row: the numbers are folded from rows, and the Parquet files
 * contain them. The fields are named as the columns.
 */
import type { Notice } from "../core/decision.ts";
import type {
  CallAllowed,
  CallHeld,
  CallRefused,
  ClaimChanged,
  GateEvent,
  VerdictRuled,
} from "../core/events.ts";
import type { CommittedRecord, JournalRecord } from "../runtime/journal.ts";

export type RowKind =
  | "allowed"
  | "refused"
  | "held"
  | "repeated"
  | "result"
  | "unknown"
  | "reconciled"
  | "ruled"
  | "ignored"
  | "dead_letter";

/** Times in ms since 1970; `at_ms` is gate time. Money in millionths of the currency. */
export type DecisionRow = {
  readonly partition: number;
  readonly offset: number;
  readonly event: number;
  readonly seq: number;
  readonly kind: RowKind;
  readonly at_ms: number;
  readonly journaled_at_ms: number;
  /** From the append of the proposal to the append of its answer; null for other events. */
  readonly latency_ms: number | null;
  readonly tenant_id: string | null;
  readonly conversation_id: string | null;
  readonly call_id: string | null;
  readonly decision_id: string | null;
  readonly agent_id: string | null;
  readonly turn: string | null;
  readonly step: string | null;
  readonly tool: string | null;
  readonly tier: string | null;
  readonly is_read: boolean | null;
  readonly reason: string | null;
  readonly rule: string | null;
  readonly level: number | null;
  /** Reason codes, separated by commas. */
  readonly warnings: string | null;
  readonly shadow: string | null;
  readonly approval_id: string | null;
  /** Names, separated by commas; null where the call was denied or cancelled. */
  readonly approved_by: string | null;
  /** The verdict that caused the event: its kind, who gave it, and their words. */
  readonly verdict: string | null;
  readonly verdict_by: string | null;
  readonly verdict_reason: string | null;
  /**
   * Number of calls and end of a grant by verdict; null: any number, and as long as the
   * conversation lasts.
   */
  readonly grant_calls: number | null;
  readonly grant_until_ms: number | null;
  /** Tier of the grant that paid for the call. */
  readonly grant_tier: string | null;
  readonly attempt: number | null;
  readonly fresh: boolean | null;
  readonly action_key: string | null;
  readonly arguments: string | null;
  readonly status: string | null;
  readonly error_code: string | null;
  readonly duration_ms: number | null;
  readonly cost_micro_units: number | null;
  readonly currency: string | null;
  readonly output_bytes: number | null;
  /** Why an input was ignored or could not be decoded; how an unknown outcome was settled. */
  readonly detail: string | null;
  readonly policy: string;
};

type Column = readonly [
  name: keyof DecisionRow,
  type: "BIGINT" | "INTEGER" | "BOOLEAN" | "VARCHAR",
];

/** Columns in the order of the files. */
export const DECISION_COLUMNS: readonly Column[] = [
  ["partition", "INTEGER"],
  ["offset", "BIGINT"],
  ["event", "INTEGER"],
  ["seq", "BIGINT"],
  ["kind", "VARCHAR"],
  ["at_ms", "BIGINT"],
  ["journaled_at_ms", "BIGINT"],
  ["latency_ms", "BIGINT"],
  ["tenant_id", "VARCHAR"],
  ["conversation_id", "VARCHAR"],
  ["call_id", "VARCHAR"],
  ["decision_id", "VARCHAR"],
  ["agent_id", "VARCHAR"],
  ["turn", "VARCHAR"],
  ["step", "VARCHAR"],
  ["tool", "VARCHAR"],
  ["tier", "VARCHAR"],
  ["is_read", "BOOLEAN"],
  ["reason", "VARCHAR"],
  ["rule", "VARCHAR"],
  ["level", "INTEGER"],
  ["warnings", "VARCHAR"],
  ["shadow", "VARCHAR"],
  ["approval_id", "VARCHAR"],
  ["approved_by", "VARCHAR"],
  ["grant_tier", "VARCHAR"],
  ["attempt", "INTEGER"],
  ["fresh", "BOOLEAN"],
  ["action_key", "VARCHAR"],
  ["arguments", "VARCHAR"],
  ["status", "VARCHAR"],
  ["error_code", "VARCHAR"],
  ["duration_ms", "BIGINT"],
  ["cost_micro_units", "BIGINT"],
  ["currency", "VARCHAR"],
  ["output_bytes", "BIGINT"],
  ["detail", "VARCHAR"],
  ["policy", "VARCHAR"],
  ["verdict", "VARCHAR"],
  ["verdict_by", "VARCHAR"],
  ["verdict_reason", "VARCHAR"],
  ["grant_calls", "BIGINT"],
  ["grant_until_ms", "BIGINT"],
];

const NOTHING = Object.fromEntries(DECISION_COLUMNS.map(([name]) => [name, null])) as {
  readonly [name in keyof DecisionRow]: null;
};

/**
 * The rows of one journal record: one for each event but claims, one for a dead letter, none for an idle
 * record.
 */
export function rowsOf(partition: number, committed: CommittedRecord): readonly DecisionRow[] {
  const { record, offset, appendTimeMs } = committed;
  const recordColumns = {
    ...NOTHING,
    ...{ partition, offset, seq: record.seq, journaled_at_ms: appendTimeMs },
    policy: record.policyRevision,
  };
  if (record.input.type === "quarantined") {
    const { at, code } = record.input;
    return [
      { ...recordColumns, event: 0, kind: "dead_letter", at_ms: at.appendTimeMs, detail: code },
    ];
  }
  const atMs = gateTimeMs(record);
  const latencyMs = proposalLatencyMs(committed);
  return record.events.flatMap((event, index) => {
    // The event before it says of which call a claim is.
    if (event.type === "claimed") return [];
    const columns = { ...verdictColumns(record), ...columnsOf(event, latencyMs) };
    return [{ ...recordColumns, event: index, at_ms: atMs, ...columns }];
  });
}

function gateTimeMs({ input, clocks }: JournalRecord): number {
  return input.type === "idle" ? clocks.proposals : clocks[input.at.topic];
}

/** The columns of the verdict that caused the record's events. */
function verdictColumns({ input }: JournalRecord): Partial<DecisionRow> {
  if (input.type !== "decided" || input.input.type !== "verdict") return {};
  const { kind, by, reason } = input.input;
  return { verdict: kind, verdict_by: by, verdict_reason: reason };
}

function proposalLatencyMs({ record, appendTimeMs }: CommittedRecord): number | null {
  const { input } = record;
  if (input.type !== "decided" || input.input.type !== "proposal") return null;
  return Math.max(0, appendTimeMs - input.at.appendTimeMs);
}

type Columns = Partial<DecisionRow> & { readonly kind: RowKind };

function columnsOf(event: Exclude<GateEvent, ClaimChanged>, latencyMs: number | null): Columns {
  const who = { tenant_id: event.tenantId, conversation_id: event.conversationId };
  switch (event.type) {
    case "allowed":
    case "refused":
    case "held":
      return { ...who, ...decisionColumns(event), latency_ms: latencyMs };
    case "repeated": {
      // The row has the time of the repeated answer, not of the first decision.
      const { at_ms: _, ...decision } = decisionColumns(event.decision);
      return { ...who, ...decision, kind: "repeated", latency_ms: latencyMs };
    }
    case "ignored":
      return { ...who, kind: "ignored", decision_id: event.id, detail: event.why };
    case "ruled":
      return { ...who, ...rulingColumns(event) };
    case "result_recorded":
      return {
        ...{ ...who, kind: "result", call_id: event.callId, decision_id: event.decisionId },
        ...{ tool: event.tool, at_ms: event.atMs, status: event.status },
        error_code: event.error?.code ?? null,
        duration_ms: event.durationMs,
        cost_micro_units: event.cost?.microUnits ?? null,
        currency: event.cost?.currency ?? null,
        output_bytes: event.outputBytes,
      };
    default:
      return {
        ...{ ...who, call_id: event.callId, decision_id: event.decisionId },
        ...{ tool: event.tool, at_ms: event.atMs },
        kind: event.type === "reconciled" ? "reconciled" : "unknown",
        detail: event.type === "reconciled" ? event.outcome : null,
      };
  }
}

function rulingColumns(event: VerdictRuled): Columns {
  const isGrant = event.kind === "grant";
  return {
    ...{ kind: "ruled", at_ms: event.atMs, detail: event.kind, approval_id: event.approvalId },
    ...{ decision_id: event.decisionId, tool: event.tool, tier: event.tier },
    ...{ verdict: event.kind, verdict_by: event.by, verdict_reason: event.reason },
    grant_calls: isGrant ? event.calls : null,
    grant_until_ms: isGrant ? event.untilMs : null,
  };
}

function decisionColumns(event: CallAllowed | CallRefused | CallHeld): Columns {
  return {
    kind: event.type,
    at_ms: event.times.atMs,
    call_id: event.call.callId,
    decision_id: event.decisionId,
    agent_id: event.call.agentId,
    turn: event.call.turn,
    step: event.call.step,
    tool: event.call.tool,
    tier: event.policy.tier,
    is_read: event.policy.isRead,
    warnings: codes(event.notices.warnings),
    shadow: codes(event.notices.shadow),
    approved_by: approversOf(event),
    fresh: event.conversation.fresh,
    // Empty where the arguments could not be read or were too large.
    action_key: event.arguments.actionKey || null,
    arguments: event.arguments.text || null,
    ...outcomeColumns(event),
  };
}

function approversOf(event: CallAllowed | CallRefused | CallHeld): string | null {
  const isDenied = event.type === "refused" && event.refusal.reason === "approval_denied";
  return isDenied || event.approval.approvedBy.length === 0
    ? null
    : event.approval.approvedBy.join(",");
}

function outcomeColumns(event: CallAllowed | CallRefused | CallHeld): Partial<DecisionRow> {
  switch (event.type) {
    case "allowed":
      return {
        approval_id: event.approval.approvalId,
        attempt: event.execution.attempt,
        grant_tier: event.facts.grant?.tier ?? null,
      };
    case "refused": {
      const { reason, rule, level } = event.refusal;
      return { approval_id: event.approval.approvalId, reason, rule, level };
    }
    case "held":
      return { approval_id: event.holdId, reason: "approval_required", rule: event.rule };
  }
}

function codes(notices: readonly Notice[]): string | null {
  return notices.length === 0 ? null : notices.map(({ reason }) => reason).join(",");
}
