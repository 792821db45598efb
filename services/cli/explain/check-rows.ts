/** The rows of `policy explain`: what is asked before the checks, then each check that has a row. */

import type { ExplainRow } from "../../core/checks/explain-row.ts";
import { ENTRY_ROWS } from "../../core/checks/explain-row.ts";
import { CHECKS } from "../../core/checks/order.ts";
import { ENTRY_ORDER } from "../../core/reasons/gate-reasons.ts";
import { REASON_CODES, REASONS, type ReasonCode } from "../../core/reasons/reasons.ts";

export interface CheckRow extends ExplainRow {
  readonly number: string;
  readonly name: string;
  readonly reasons: readonly ReasonCode[];
}

const ROW_ENTRIES = [
  ...ENTRY_ORDER.map((name) => ({ name, row: ENTRY_ROWS[name] })),
  ...CHECKS.flatMap(({ name, row }) => (row === null ? [] : [{ name, row }])),
];

export const CHECK_ROWS: readonly CheckRow[] = ROW_ENTRIES.map(({ name, row }, at) => ({
  ...row,
  number: String(at + 1),
  name: name.replaceAll("_", " "),
  reasons: REASON_CODES.filter((code) => REASONS[code].check === name),
}));
