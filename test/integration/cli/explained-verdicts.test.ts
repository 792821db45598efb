// What `callgate explain` shows about the people who approved, denied or cancelled a call.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Callgate, openCallgate } from "../../../services/library/callgate.ts";
import { runInProcess } from "../../support/memory-terminal.ts";

let dataDir = "";
let gate: Callgate;

/** @param expires_ms of payments that are held. */
async function opened(expires_ms: number): Promise<Callgate> {
  const tiers = [
    {
      ...{ name: "removals", pattern: "delete_*", action: "hitl" },
      ...{ require_reason: true, expires_ms: 900_000 },
    },
    { name: "twice", pattern: "pay_*", action: "hitl", approvals: 2, expires_ms },
  ] as const;
  return await openCallgate({ policy: { authorization: { tiers } }, dataDir });
}

beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), "callgate-explained-"));
  gate = await opened(900_000);
});
afterAll(async () => {
  await gate.close();
  rmSync(dataDir, { recursive: true, force: true });
});

let calls = 0;

async function held(tool: string) {
  calls += 1;
  const callId = `c${calls}`;
  const decision = await gate.propose({ conversationId: "c", callId, tool, arguments: { calls } });
  if (decision.outcome !== "held") throw new Error(`it is ${decision.outcome}`);
  return decision;
}

async function explained(decisionId: string): Promise<{ text: string; verdicts: unknown }> {
  const text = await runInProcess(["explain", decisionId, "-d", dataDir]);
  const json = await runInProcess(["explain", decisionId, "-d", dataDir, "--json"]);
  const { decisions } = JSON.parse(json.stdout) as { decisions: { verdicts: unknown }[] };
  return { text: text.stdout, verdicts: decisions.at(-1)?.verdicts };
}

const atMs = expect.any(Number);

describe("callgate explain", () => {
  it("shows who approved a call, when, and the reason that the policy requires", async () => {
    const { approvalId, decisionId } = await held("delete_row");
    await gate.approve(approvalId, { by: "ann", reason: "because ticket 77" });
    const { text, verdicts } = await explained(decisionId);

    expect(text).toMatch(/^approved by +ann at \S+Z: because ticket 77$/m);
    expect(verdicts).toEqual([{ kind: "approve", by: "ann", reason: "because ticket 77", atMs }]);
  });

  it("shows each of several approvers in order, with their reasons", async () => {
    const { approvalId, decisionId } = await held("pay_bill");
    await gate.approve(approvalId, { by: "ann", reason: "is due" });
    await gate.approve(approvalId, { by: "ben" });
    const { text, verdicts } = await explained(decisionId);

    expect(text).toMatch(/^approved by +ann at \S+Z: is due\napproved by +ben at \S+Z$/m);
    expect(verdicts).toEqual([
      { kind: "approve", by: "ann", reason: "is due", atMs },
      { kind: "approve", by: "ben", reason: null, atMs },
    ]);
  });

  it("distinguishes a cancelled call from a denied one, and omits earlier approvers", async () => {
    const { approvalId, decisionId } = await held("pay_bill");
    await gate.approve(approvalId, { by: "ann", reason: "is due" });
    const cancel = ["approvals", "cancel", approvalId, "--by", "ben", "--reason", "was paid"];
    await runInProcess([...cancel, "-d", dataDir]);
    const { text, verdicts } = await explained(decisionId);

    expect(text).toMatch(/^cancelled by +ben at \S+Z: was paid$/m);
    expect(text).not.toContain("denied by");
    expect(verdicts).toEqual([{ kind: "cancel", by: "ben", reason: "was paid", atMs }]);
  });

  it("omits approvals of a rule that changed before all had approved", async () => {
    const { approvalId, decisionId } = await held("pay_bill");
    await gate.approve(approvalId, { by: "ann", reason: "by the old rule" });
    await gate.close();
    gate = await opened(800_000);
    const anew = await gate.approve(approvalId, { by: "ben" });
    if (anew.outcome !== "held") throw new Error(`it is ${anew.outcome}`);
    await gate.approve(anew.approvalId, { by: "ann", reason: "by the new rule" });
    await gate.approve(anew.approvalId, { by: "cid" });
    const { text, verdicts } = await explained(decisionId);

    expect(text).toMatch(/^approved by +ann at \S+Z: by the new rule\napproved by +cid at \S+Z$/m);
    expect(verdicts).toEqual([
      { kind: "approve", by: "ann", reason: "by the new rule", atMs },
      { kind: "approve", by: "cid", reason: null, atMs },
    ]);
  });

  it("lets nobody inject lines or terminal escapes", async () => {
    const forged = "x\u001b[2J\noutcome      refused";
    const { approvalId, decisionId } = await held("delete_row");
    await gate.approve(approvalId, { by: "ann", reason: `fine${forged}` });
    const { text } = await explained(decisionId);

    expect(text).toMatch(/^approved by +ann at \S+Z: finex\\u001b\[2J outcome +refused/m);
    expect(text).not.toContain("\u001b");
    expect(text).not.toMatch(/^outcome +refused/m);
  });
});
