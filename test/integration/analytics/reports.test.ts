// The reports on rows that were kept as files.
import { join } from "node:path";
import { expect, test } from "vitest";
import { openDuck } from "../../../services/adapters/duckdb/connection.ts";
import { ParquetSegments } from "../../../services/adapters/duckdb/parquet-segments.ts";
import { querySegments } from "../../../services/adapters/duckdb/query-segments.ts";
import { DECISION_COLUMNS, type DecisionRow } from "../../../services/analytics/decision-row.ts";
import { REPORTS } from "../../../services/cli/analytics/reports.ts";
import { decisionRow } from "../../support/decision-row.ts";
import { makeDirectory } from "../../support/open-gate.ts";

async function report(name: string, rows: readonly Partial<DecisionRow>[]) {
  const folder = join(makeDirectory(), "decisions");
  const duck = await openDuck();
  const segments = new ParquetSegments(folder, DECISION_COLUMNS, duck);
  segments.open(0);
  const placed = rows.map((one, offset) => decisionRow({ offset, seq: offset, ...one }));
  await segments.write(0, placed, 0, rows.length);
  duck.close();
  const { sql = "" } = REPORTS.find((one) => one.name === name) ?? {};
  const { columns, rows: answered } = await querySegments(folder, DECISION_COLUMNS, sql);
  return answered.map((values) =>
    Object.fromEntries(columns.map((column, index) => [column, Number(values[index])])),
  );
}

test("a held call is no second decision where shares are told", async () => {
  const held = { kind: "held", reason: "approval_required" } as const;

  const [tool] = await report("tools", [
    ...[held, { kind: "allowed", approval_id: "1" } as const],
    ...[held, { kind: "refused", reason: "approval_denied" } as const],
    held,
  ]);

  expect(tool).toMatchObject({ decisions: 2, refused: 1, held: 3, refused_percent: 50 });
});

test("a grant that goes over to a person was used up as one that refuses", async () => {
  const granted = { tier: "money", grant_tier: "money" };
  const held = { kind: "held", tier: "money", reason: "approval_required" } as const;

  const grants = await report("grants", [
    ...[
      { conversation_id: "a", ...granted },
      { conversation_id: "a", ...held },
    ],
    { conversation_id: "b", ...granted },
    { conversation_id: "c", ...held, tier: "people" },
  ]);

  expect(grants).toMatchObject([{ conversations: 2, calls_most: 1, exhausted_percent: 50 }]);
});
