// Which held calls are listed as belonging to an ended conversation, however it ended.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { type Callgate, openCallgate } from "../../../services/library/callgate.ts";
import { runInProcess } from "../../support/memory-terminal.ts";

const POLICY = {
  tool_schemas: { charge_card: {} },
  escalation: {
    ...{ ask: "off", options: "off", user_input: "off" },
    end: { at: 1, lasts: "conversation" },
  },
  authorization: { tiers: [{ name: "care", pattern: "delete_*", action: "hitl" }] },
} as const;
const WEEK_MS = 7 * 86_400_000;

let dataDir = "";
let calls = 0;

beforeAll(() => {
  dataDir = mkdtempSync(join(tmpdir(), "callgate-ended-"));
});
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

/** Runs a gate while `use` does. */
async function withGate<T>(use: (gate: Callgate) => Promise<T>): Promise<T> {
  const gate = await openCallgate({ policy: POLICY, dataDir });
  try {
    return await use(gate);
  } finally {
    await gate.close();
  }
}

async function propose(gate: Callgate, conversationId: string, tool: string) {
  calls += 1;
  const call = { conversationId, turn: 1, step: calls, callId: `c${calls}`, tool };
  return await gate.propose({ ...call, arguments: { tool } });
}

async function listed(conversationId: string): Promise<readonly boolean[]> {
  const { stdout } = await runInProcess(["approvals", "list", "-d", dataDir, "--json"]);
  const { approvals } = JSON.parse(stdout) as {
    approvals: readonly { conversationId: string; conversationEnded: boolean }[];
  };
  return approvals
    .filter((one) => one.conversationId === conversationId)
    .map(({ conversationEnded }) => conversationEnded);
}

test("lists a conversation that escalation ended, until it lapses and begins anew", async () => {
  await withGate(async (gate) => {
    await propose(gate, "ladder", "delete_row");
    const { decisionId = "" } = await propose(gate, "ladder", "charge_card");
    await gate.report(decisionId, { status: "succeeded", output: "ok" });
    expect(await listed("ladder")).toEqual([false]);
    const again = await propose(gate, "ladder", "charge_card");
    expect(again).toMatchObject({ outcome: "refused", refusal: { level: 4 } });
    expect(await listed("ladder")).toEqual([true]);
  });
  const later = vi.spyOn(Date, "now").mockReturnValue(Date.now() + WEEK_MS);
  await withGate((gate) => propose(gate, "ladder", "delete_table"));
  expect(await listed("ladder")).toContain(false);
  expect(await listed("ladder")).not.toContain(true);
  later.mockRestore();
});

test("lists a conversation that a person has ended or reopened, even before a gate processed that", async () => {
  await withGate((gate) => propose(gate, "person", "delete_row"));
  await runInProcess(["conversations", "end", "person", "-d", dataDir]);
  expect(await listed("person")).toEqual([true]);
  await runInProcess(["conversations", "reopen", "person", "-d", dataDir]);
  expect(await listed("person")).toEqual([false]);
});
