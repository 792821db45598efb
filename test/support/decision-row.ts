/** A row of the journal; by default an allowed call. */
import { DECISION_COLUMNS, type DecisionRow } from "../../services/analytics/decision-row.ts";

const NOTHING = Object.fromEntries(DECISION_COLUMNS.map(([name]) => [name, null]));

export function decisionRow(overrides: Partial<DecisionRow>): DecisionRow {
  return {
    ...(NOTHING as unknown as DecisionRow),
    ...{ partition: 0, offset: 0, event: 0, seq: 1, kind: "allowed", at_ms: 1_000 },
    ...{ tenant_id: "t", conversation_id: "c", tool: "read", step: "1", policy: "p" },
    ...overrides,
  };
}
