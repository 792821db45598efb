import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openDuck } from "../../../services/adapters/duckdb/connection.ts";
import { ParquetSegments } from "../../../services/adapters/duckdb/parquet-segments.ts";
import { DECISIONS_FOLDER } from "../../../services/analytics/analytics.ts";
import { DECISION_COLUMNS, type DecisionRow } from "../../../services/analytics/decision-row.ts";
import { type InProcessRun, runInProcess } from "../../support/memory-terminal.ts";
import { makeDirectory } from "../../support/open-gate.ts";

/** The directory of analytics that kept these rows. */
async function storeRows(rows: readonly Partial<DecisionRow>[]): Promise<string> {
  const directory = makeDirectory();
  const duck = await openDuck();
  const segments = new ParquetSegments(join(directory, DECISIONS_FOLDER), DECISION_COLUMNS, duck);
  segments.open(0);
  const commonColumns = { partition: 0, event: 0, seq: 1, at_ms: 5_000, tenant_id: "t" };
  const placed = rows.map((row, offset) => ({ ...commonColumns, offset, ...row }));
  await segments.write(0, placed, 0, rows.length);
  duck.close();
  return directory;
}

function paid(conversation: string, micro: number, currency: string): Partial<DecisionRow> {
  const cost = { cost_micro_units: micro, currency };
  return { kind: "result", conversation_id: conversation, status: "succeeded", ...cost };
}

const SPENT: readonly Partial<DecisionRow>[] = [
  { kind: "allowed", conversation_id: "c", tool: "pay", latency_ms: 7 },
  paid("c", 2_500_000, "USD"),
  paid("c", 1_000_000, "USD"),
  paid("c", 4_000_000, "EUR"),
  { kind: "refused", conversation_id: "d", tool: "pay", reason: "duplicate_call", at_ms: 1_000 },
];

async function run(
  command: readonly string[],
  rows: readonly Partial<DecisionRow>[],
): Promise<InProcessRun> {
  return await runInProcess(["analytics", ...command, "--dir", await storeRows(rows)]);
}

async function conversationsOf(rows: readonly Partial<DecisionRow>[]) {
  const { stdout } = await run(["report", "--json"], rows);
  return JSON.parse(stdout).conversations;
}

describe("callgate analytics report", () => {
  it("tells what a conversation cost in each currency", async () => {
    const conversations = await conversationsOf(SPENT);
    const c = { tenant_id: "t", conversation_id: "c", calls: 1, refused: 0, seconds: 0 };
    const d = { tenant_id: "t", conversation_id: "d", calls: 0, refused: 1, seconds: 0 };
    expect(conversations).toEqual([
      { ...c, spend: 4, currency: "EUR" },
      { ...c, spend: 3.5, currency: "USD" },
      { ...d, spend: null, currency: null },
    ]);
  });

  it("names the ten largest conversations, however many currencies each has", async () => {
    const rows = Array.from({ length: 12 }, (_, index) => {
      const name = `c${String(index).padStart(2, "0")}`;
      const calls = Array.from({ length: 20 - index }, () => ({
        ...({ kind: "allowed", conversation_id: name, tool: "pay" } as const),
      }));
      return [...calls, paid(name, 1_000_000, "EUR"), paid(name, 1_000_000, "USD")];
    });
    const conversations = await conversationsOf(rows.flat());
    const names = conversations.map((one: { conversation_id: string }) => one.conversation_id);
    expect([names.length, names[0], names.at(-1)]).toEqual([20, "c00", "c09"]);
  });

  it("gives a line of JSON for each row, with the report that it is of", async () => {
    const { stdout } = await run(["report", "--format", "jsonl"], SPENT);
    const lines = stdout.trim().split("\n");
    const rows = lines.map((line) => JSON.parse(line));
    expect(rows.map((row) => row.report)).toEqual([
      "tools",
      ...["conversations", "conversations", "conversations"],
      "latency",
    ]);
    expect(rows[0]).toMatchObject({ report: "tools", tool: "pay", decisions: 2 });
  });

  it("refuses CSV, and says what to do", async () => {
    const { code, stdout, stderr } = await run(["report", "--format", "csv"], SPENT);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toContain(
      "several tables, and CSV can hold only one: use --format json or jsonl",
    );
  });
});

describe("before a first file is written", () => {
  it.each([
    [["report"], /no rows/],
    [["report", "--json"], /"tools":\[\]/],
    [["query", "from decisions"], /no rows/],
  ])("%j says why it is empty, beside what it prints", async (command, printed) => {
    const directory = makeDirectory();
    mkdirSync(join(directory, DECISIONS_FOLDER, "partition-0"), { recursive: true });
    const { code, stdout, stderr } = await runInProcess([
      ...["analytics", ...command, "--dir", directory],
    ]);
    expect([code, stdout]).toEqual([0, expect.stringMatching(printed)]);
    expect(stderr).toMatch(/^callgate: no decision is in a file yet: .*segmentMs.* when it ends$/m);
    expect((await run(command, SPENT)).stderr).toBe("");
  });
});

describe("callgate analytics query --format csv", () => {
  it("tells an empty text from NULL, and quotes what would end a cell", async () => {
    const sql = `select '' as empty, NULL as none, 'a"b,c' as "q""uoted", 'x' as plain`;
    const { stdout } = await run(["query", sql, "--format", "csv"], SPENT);
    expect(stdout).toBe('empty,none,"q""uoted",plain\r\n"",,"a""b,c",x\r\n');
  });
});
