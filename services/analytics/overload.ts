/**
 * The alert about a gate that refuses new conversations. A partition has one for as long as that
 * lasts, however many proposals are refused.
 */
import type { Alert } from "../wire/output-records.ts";
import type { DecisionRow } from "./decision-row.ts";

export type Overload = {
  readonly alertId: string;
  /** Of the first proposal that was refused. */
  readonly tenantId: string;
  readonly conversationId: string;
  readonly agentId: string | null;
  readonly firstAtMs: number;
  /** Of the latest one. */
  readonly decisionId: string | null;
  readonly lastAtMs: number;
  readonly count: number;
};

/** A gate that has refused no new conversation for this time has room again. */
const OVER_AFTER_MS = 600_000;

export function isOverloadRow({ kind, reason }: DecisionRow): boolean {
  return kind === "refused" && reason === "overloaded";
}

export function beginOverload(partition: number, row: DecisionRow): Overload {
  return {
    alertId: `overloaded:${partition}:${row.at_ms}`,
    tenantId: row.tenant_id ?? "",
    conversationId: row.conversation_id ?? "",
    agentId: row.agent_id,
    firstAtMs: row.at_ms,
    decisionId: row.decision_id,
    lastAtMs: row.at_ms,
    count: 1,
  };
}

export function addToOverload(overload: Overload, row: DecisionRow): Overload {
  const lastAtMs = Math.max(overload.lastAtMs, row.at_ms);
  return { ...overload, decisionId: row.decision_id, lastAtMs, count: overload.count + 1 };
}

/** When it is over if nothing more is refused. */
export function overloadEndsAtMs({ lastAtMs }: Overload): number {
  return lastAtMs + OVER_AFTER_MS;
}

export function overloadAlert(overload: Overload): Alert {
  return {
    ...common(overload),
    severity: "warning",
    atMs: overload.firstAtMs,
    resolvedAtMs: null,
    message:
      "the gate refuses new conversations because a bound of `limits` is reached, and goes on with those that have begun: " +
      "find out with `callgate_conversations` and `callgate tail` who begins so many, or raise the bound",
  };
}

export function overloadEndAlert(overload: Overload): Alert {
  const endsAtMs = overloadEndsAtMs(overload);
  return {
    ...common(overload),
    severity: "info",
    atMs: endsAtMs,
    resolvedAtMs: endsAtMs,
    message: `the gate has refused no new conversation for ten minutes; it had refused ${overload.count} calls`,
  };
}

function common(overload: Overload) {
  const { alertId, tenantId, conversationId, agentId, decisionId, count } = overload;
  return {
    ...{ alertId, tenantId, conversationId, agentId, decisionId, count },
    kind: "overloaded",
    tool: null,
    reason: "overloaded",
    value: null,
    threshold: null,
    windowMs: overload.lastAtMs - overload.firstAtMs,
  } as const;
}
