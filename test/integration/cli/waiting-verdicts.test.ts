// Verdicts from the command line while no gate runs: the next one processes them.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { openCallgate } from "../../../services/library/callgate.ts";
import { runInProcess } from "../../support/memory-terminal.ts";

const POLICY = {
  authorization: {
    tiers: [
      { name: "care", pattern: "delete_*", action: "hitl", expires_ms: 900_000 },
      { name: "twice", pattern: "pay_*", action: "hitl", approvals: 2, expires_ms: 900_000 },
    ],
  },
} as const;
const DAY_MS = 86_400_000;

let dataDir = "";
const ids: Record<string, string> = {};

beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), "callgate-waiting-"));
  const gate = await openCallgate({ policy: POLICY, dataDir });
  for (const tool of ["delete_row", "delete_table", "delete_late", "pay_bill", "pay_rent"]) {
    const call = { conversationId: "c", callId: tool, agentId: "robot", tool, arguments: {} };
    ids[tool] = (await gate.propose(call)).approvalId ?? "";
  }
  await gate.close();
});
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

const say = (kind: string, tool: string, by: string) =>
  runInProcess(["approvals", kind, ids[tool] ?? "", "--by", by, "-d", dataDir]);

async function listed(tool: string): Promise<string> {
  const { stdout } = await runInProcess(["approvals", "list", "-d", dataDir]);
  return stdout.split("\n").find((line) => line.includes(tool)) ?? "";
}

describe("a verdict that no gate has processed yet", () => {
  it("decides: later verdicts are not recorded, and the command says so", async () => {
    const first = await say("approve", "delete_row", "ann");
    const denied = await say("deny", "delete_row", "ben");
    const cancelled = await say("cancel", "delete_row", "ann");

    expect(first).toMatchObject({ code: 0, stdout: expect.stringContaining("is recorded") });
    const why =
      "not recorded, because approve by ann is recorded, ends the hold and cannot be taken back; the next gate applies it";
    for (const later of [denied, cancelled]) {
      expect(later).toMatchObject({ code: 2, stdout: "" });
      expect(later.stderr).toContain(`${ids["delete_row"]}: ${why}`);
    }
  });

  it("leaves room for the approvals of other people that the policy requires", async () => {
    const ann = await say("approve", "pay_bill", "ann");
    const again = await say("approve", "pay_bill", "ann");
    const robot = await say("approve", "pay_bill", "robot");
    const ben = await say("approve", "pay_bill", "ben");
    const cleo = await say("deny", "pay_bill", "cleo");

    expect([ann.code, again.code, robot.code, ben.code, cleo.code]).toEqual([0, 2, 2, 0, 2]);
    expect(again.stdout).toContain("changed nothing: this person has already approved");
    expect(robot.stdout).toContain("changed nothing: the agent that proposed the call");
    expect(cleo.stderr).toContain("approve by ann and approve by ben are recorded, end the hold");
    expect(await listed("pay_bill")).toContain("approve by ann, approve by ben");
  });

  it("can deny what one of several people has approved", async () => {
    await say("approve", "pay_rent", "ann");
    const ben = await say("deny", "pay_rent", "ben");

    expect(ben).toMatchObject({ code: 0, stdout: expect.stringContaining("is recorded") });
  });

  it("is not recorded if the hold is over", async () => {
    const over = vi.spyOn(Date, "now").mockReturnValue(Date.now() + DAY_MS);
    const late = await say("approve", "delete_late", "ann");
    expect(await listed("delete_late")).toContain("expired, not yet applied");
    over.mockRestore();

    expect(late).toMatchObject({ code: 2, stdout: "" });
    expect(late.stderr).toMatch(
      /not recorded, because it waited for an answer until \S+Z; the next gate refuses the call/,
    );
    expect(await listed("delete_late")).not.toContain("approve by");
  });

  it("is applied by the next gate", async () => {
    await say("deny", "delete_table", "ann");
    const gate = await openCallgate({ policy: POLICY, dataDir });
    await gate.close();
    const { stdout } = await runInProcess(["tail", "--once", "--json", "-d", dataDir]);
    const lines = stdout.trim().split("\n");
    const decided = lines.map(
      (line) => JSON.parse(line) as { call: { tool: string }; type: string },
    );

    expect(decided.slice(5).map(({ call, type }) => [call.tool, type])).toEqual([
      ["delete_row", "allowed"],
      ["pay_bill", "allowed"],
      ["pay_rent", "refused"],
      ["delete_table", "refused"],
    ]);
  });
});
