/** The counts of one conversation while it goes on. */
import type { DecisionRow } from "./decision-row.ts";
import type { SpendChange } from "./spend.ts";

/** An alert that was raised and is not resolved. A conversation has up to two for a metric. */
export type OpenAlert = {
  /** Name of the metric, with its currency where it has one. */
  readonly name: string;
  readonly severity: "warning" | "critical";
  readonly alertId: string;
};

export type Conversation = {
  readonly tenantId: string;
  readonly conversationId: string;
  agentId: string | null;
  /** Number of allowed calls. */
  calls: number;
  steps: number;
  turn: string | null;
  step: string | null;
  /** Millionths, by currency. */
  readonly spend: Record<string, number>;
  readonly firstAtMs: number;
  /** Gate time of the last call or result. */
  lastAtMs: number;
  decisionId: string | null;
  readonly alerts: OpenAlert[];
};

/** The form of earlier versions: one alert for each metric, without its severity. */
export type SavedConversation = Omit<Conversation, "alerts"> & {
  readonly alerts: readonly OpenAlert[] | Readonly<Record<string, string>>;
};

/** A mutable copy of a conversation in the state file. */
export function restoredConversation(saved: SavedConversation): Conversation {
  const { alerts, ...rest } = structuredClone(saved);
  if (Array.isArray(alerts)) return { ...rest, alerts };
  const openAlerts = Object.entries(alerts).map(
    ([name, alertId]) => ({ name, severity: "warning", alertId }) as const,
  );
  return { ...rest, alerts: openAlerts };
}

export function startConversation(row: DecisionRow): Conversation {
  return {
    tenantId: row.tenant_id ?? "",
    conversationId: row.conversation_id ?? "",
    ...{ agentId: row.agent_id, calls: 0, steps: 0, turn: null, step: null },
    ...{ spend: {}, firstAtMs: row.at_ms, lastAtMs: row.at_ms, decisionId: null, alerts: [] },
  };
}

/** Adds the row of a call or a result. */
export function addToConversation(conversation: Conversation, row: DecisionRow): void {
  conversation.lastAtMs = Math.max(conversation.lastAtMs, row.at_ms);
  if (row.kind === "result") return;
  conversation.agentId = row.agent_id ?? conversation.agentId;
  conversation.decisionId = row.decision_id;
  if (row.kind === "allowed") conversation.calls += 1;
  const isNewStep =
    row.step === null || row.step !== conversation.step || row.turn !== conversation.turn;
  if (isNewStep || conversation.steps === 0) conversation.steps += 1;
  conversation.step = row.step;
  conversation.turn = row.turn;
}

/** A cost that an earlier conversation had is not subtracted from this one. */
export function addSpend({ spend }: Conversation, changes: readonly SpendChange[]): void {
  for (const { currency, microUnits } of changes) {
    const before = spend[currency];
    if (before === undefined && microUnits < 0) continue;
    spend[currency] = Math.max(0, (before ?? 0) + microUnits);
  }
}
