// Verdicts from the command line to a running gate.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Callgate, openCallgate } from "../../../services/library/callgate.ts";
import { runInProcess } from "../../support/memory-terminal.ts";

const POLICY = `authorization:
  tiers:
    - { name: removals, pattern: "delete_*", action: hitl, require_reason: true, expires_ms: 900000 }
    - { name: twice, pattern: "pay_*", action: hitl, approvals: 2, expires_ms: 900000 }
    - { name: given, pattern: "send_*", action: per_conversation_grant, ceiling: 1, granted_by: verdict }
tool_schemas:
  charge_card: { time_limit_ms: 1, start_within_ms: 1 }
`;

let directory = "";
let dataDir = "";
let policy = "";
let gate: Callgate;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), "callgate-verdicts-"));
  dataDir = join(directory, "data");
  policy = join(directory, "policy.yaml");
  writeFileSync(policy, POLICY);
  gate = await openCallgate({ policy, dataDir });
});
afterAll(async () => {
  await gate.close();
  rmSync(directory, { recursive: true, force: true });
});

const run = (...args: string[]) => runInProcess([...args, "-d", dataDir]);

let calls = 0;

async function propose(conversationId: string, tool: string, args: object = {}) {
  calls += 1;
  return await gate.propose({ conversationId, callId: `c${calls}`, tool, arguments: args });
}

async function held(conversationId: string, tool: string, args: object = {}): Promise<string> {
  const { approvalId } = await propose(conversationId, tool, args);
  if (approvalId === undefined) throw new Error("the call was not held");
  return approvalId;
}

describe("approvals show", () => {
  it("shows arguments, differences, the policy line, who may approve and until when", async () => {
    await held("show", "delete_row", { id: 1, table: { name: "a" } });
    const id = await held("show", "delete_row", { id: 2, table: { name: "a", soft: true } });
    const { code, stdout } = await run("approvals", "show", id, "--policy", policy);

    expect(code).toBe(0);
    expect(stdout).toContain(`rule          authorization.tiers[0]: ${policy}:3:7\n`);
    expect(stdout).toContain("who           anybody; a reason is required\n");
    expect(stdout).toMatch(/expires {7}\S+Z, in 15 min\n/);
    expect(stdout).toContain('  {\n    "id": 2,\n');
    expect(stdout).toMatch(
      / {2}c1, held at \S+Z\n {4}id: 1, now 2\n {4}table.soft: absent, now true\n/,
    );
  });

  it("prints all of it as JSON", async () => {
    const id = await held("json", "pay_bill", { amount: 1 });
    const { stdout } = await run("approvals", "show", id.slice(0, 12), "--json");

    expect(JSON.parse(stdout)).toMatchObject({
      approvalId: id,
      arguments: { amount: 1 },
      approvals: 2,
      approvedBy: [],
      earlierCalls: [],
      location: null,
    });
  });

  it("shows an argument in full, however long", async () => {
    const line = `echo ${"a".repeat(1_200)}; rm -rf /prod`;
    const id = await held("long", "delete_row", { line });
    const { stdout } = await run("approvals", "show", id);
    expect(stdout.replaceAll("\n  ", "")).toContain(line);
    expect(Math.max(...stdout.split("\n").map(({ length }) => length))).toBeLessThan(520);
  });

  it("reports an id without a call", async () => {
    const { code, stderr } = await run("approvals", "show", "nothing");

    expect(code).toBe(2);
    expect(stderr).toContain("no call waits under this id; see: callgate approvals list");
  });

  it.each(["", "12345"])("rejects an id that a script has lost: %j", async (id) => {
    await held(`lost-${id}`, "delete_row");
    const { code, stderr } = await run("approvals", "approve", id, "--reason", "so");
    expect(code).toBe(2);
    expect(stderr).toContain("give at least 6 characters of the approval id");
  });

  it("rejects an empty approver name", async () => {
    const id = await held("unsaid", "delete_row");
    const { code, stderr } = await run("approvals", "approve", id, "--reason", "so", "--by", " ");
    expect(code).toBe(2);
    expect(stderr).toContain("--by: give the approver's name");
  });

  it("rejects an approver name with invisible characters", async () => {
    const id = await held("unseen", "pay_bill");
    const { code, stderr } = await run("approvals", "approve", id, "--by", "an\u200bn");
    expect(code).toBe(2);
    expect(stderr).toContain('"an\\u{200b}n": `--by` has characters that nobody sees');
  });
});

describe("approvals approve", () => {
  it("prompts for the reason that the policy requires", async () => {
    const id = await held("ask", "delete_row");
    const args = ["approvals", "approve", id, "-d", dataDir];
    const answered = await runInProcess(args, ["it was a test"]);

    expect(answered).toMatchObject({ code: 0, stderr: "why may delete_row run? " });
    expect(answered.stdout).toBe(`${id} delete_row: allowed\n`);
  });

  it("prints the missing option without a terminal, and sends nothing", async () => {
    const id = await held("no terminal", "delete_row");
    const { code, stderr } = await run("approvals", "approve", id);
    const unanswered = await runInProcess(["approvals", "approve", id, "-d", dataDir], [""]);

    expect([code, unanswered.code]).toEqual([2, 2]);
    expect(stderr).toContain("the policy requires a reason; give it with --reason");
  });

  it("waits for as many people as the policy requires, and counts nobody twice", async () => {
    const id = await held("many", "pay_bill");
    const first = await run("approvals", "approve", id, "--by", "ana");
    const again = await run("approvals", "approve", id, "--by", "ana");
    const shown = await run("approvals", "show", id);
    const second = await run("approvals", "approve", id, "--by", "ben");

    expect(first.stdout).toContain("approved by 1 of 2 who must; it waits for the others");
    expect(again).toMatchObject({ code: 2 });
    expect(again.stdout).toContain("changed nothing: this person has already approved");
    expect(shown.stdout).toContain("2 different people, approved so far by ana");
    expect(second).toMatchObject({ code: 0, stdout: `${id} pay_bill: allowed\n` });
  });

  it("counts one person once, however the name is written, and distinguishes names", async () => {
    const id = await held("one", "pay_bill");
    await run("approvals", "approve", id, "--by", "Zoë, Bob");
    const again = await run("approvals", "approve", id, "--by", " zoë,  bob");
    const { stdout } = await run("approvals", "show", id);

    expect(again.stdout).toContain("changed nothing: this person has already approved");
    expect(stdout).toContain('approved so far by "Zoë, Bob"\n');
  });

  it("shows what differs from the reviewed call, and sends nothing", async () => {
    const id = await held("looked", "pay_bill", { amount: 2 });
    const { stdout } = await run("approvals", "show", id, "--json");
    const { callId, actionKey, ruleDigest } = JSON.parse(stdout) as Record<string, string>;
    const seen = ["--action", actionKey?.slice(0, 12) ?? "", "--rule", ruleDigest ?? ""];
    const other = await run("approvals", "approve", id, ...seen, "--call", "c0", "--by", "ana");
    const changed = await run("approvals", "deny", id, "--action", "abcdef");
    const same = await run("approvals", "approve", id, ...seen, "--by", "ana");

    expect([other.code, changed.code, same.code]).toEqual([2, 2, 0]);
    expect(other.stderr).toContain(
      `${id}: not recorded, because the call that waits is ${callId}, not c0; see: callgate approvals show ${id}`,
    );
    expect(changed.stderr).toContain(`the action that waits is ${actionKey}, not abcdef`);
    expect(same.stdout).toContain("approved by 1 of 2 who must");
  });

  it("explains a denied call with the person who denied it", async () => {
    const id = await held("denied", "delete_row", { id: 1 });
    const { stdout } = await run("approvals", "show", id, "--json");
    await run("approvals", "deny", id, "--by", "ben", "--reason", "not this one");
    const { decisionId } = JSON.parse(stdout) as Record<string, string>;
    const explained = await run("explain", decisionId ?? "");

    expect(explained.stdout).toMatch(/^reason +approval_denied/m);
    expect(explained.stdout).toMatch(/^denied by +ben at \S+Z: not this one$/m);
  });

  it("grants that many further calls of the tool, or any number", async () => {
    const id = await held("often", "delete_row", { id: 1 });
    const why = ["--reason", "cleaning up"];
    await run("approvals", "approve", id, "--calls", "1", ...why);
    const second = await propose("often", "delete_row", { id: 2 });
    const any = await held("often", "delete_row", { id: 3 });
    await run("approvals", "approve", any, "--calls", "any", "--for", "1h", ...why);
    const more = [];
    for (const n of [4, 5, 6]) more.push(await propose("often", "delete_row", { id: n }));

    expect(second.outcome).toBe("allowed");
    expect(more.map(({ outcome }) => outcome)).toEqual(["allowed", "allowed", "allowed"]);
  });

  it("cancels a call that nobody needs any more", async () => {
    const id = await held("cancel", "delete_row");
    const { code, stdout } = await run("approvals", "cancel", id);

    expect(code).toBe(0);
    expect(stdout).toContain("refused (approval_denied)");
  });
});

describe("verdicts without a held call", () => {
  it("grant a tier for a number of calls, and revoke it", async () => {
    const before = await propose("grant", "send_mail", { to: 1 });
    const grant = await run("approvals", "grant", "grant", "--tier", "given", "--calls", "2");
    const granted = await propose("grant", "send_mail", { to: 2 });
    const revoked = await run("approvals", "revoke", "grant", "--tier", "given");
    const after = await propose("grant", "send_mail", { to: 3 });

    expect(before.refusal?.reason).toBe("grant_exceeded");
    expect([grant.stdout, revoked.stdout]).toEqual(["grant: granted\n", "grant: revoked\n"]);
    expect(granted.outcome).toBe("allowed");
    expect(after.refusal?.reason).toBe("grant_exceeded");
  });

  it("grant one call of a tool without a number", async () => {
    await propose("one", "send_mail", { to: 1 });
    const grant = await run("approvals", "grant", "one", "--tool", "send_mail");
    const first = await propose("one", "send_mail", { to: 2 });
    const second = await propose("one", "send_mail", { to: 3 });
    await run("approvals", "grant", "one", "--tool", "send_mail", "--calls", "any");
    const third = await propose("one", "send_mail", { to: 4 });
    const fourth = await propose("one", "send_mail", { to: 5 });

    // The policy declares the tool only through its tier.
    expect(grant.stdout).toBe("one: granted\n");
    expect(first.outcome).toBe("allowed");
    expect(second.refusal?.reason).toBe("grant_exceeded");
    expect([third.outcome, fourth.outcome]).toEqual(["allowed", "allowed"]);
  });

  it("need one tier or one tool that the policy has", async () => {
    const neither = await run("approvals", "grant", "grant");
    const unknown = await run("approvals", "grant", "grant", "--tier", "nothing", "--json");

    expect(neither).toMatchObject({ code: 2, stdout: "" });
    expect(neither.stderr).toContain("give --tier or --tool");
    expect(unknown).toMatchObject({
      code: 2,
      stdout: '{"taken":false,"ignored":"unknown_grant"}\n',
    });
  });

  it("end and reopen a conversation", async () => {
    await propose("end", "charge_card", { order: 1 });
    const ended = await run("conversations", "end", "default/end");
    const refused = await propose("end", "charge_card", { order: 2 });
    const reopened = await run("conversations", "reopen", "end");
    const allowed = await propose("end", "charge_card", { order: 3 });
    const unknown = await run("conversations", "reopen", "nobody");

    expect([ended.stdout, reopened.stdout]).toEqual(["default/end: ended\n", "end: reopened\n"]);
    expect(refused.refusal?.reason).toBe("conversation_ended");
    expect(allowed.outcome).toBe("allowed");
    expect(unknown.stdout).toContain("the gate has no such conversation");
  });

  it.each([
    ["acme", "7", "acme/7"],
    ["default", "team/42", "default/team/42"],
  ])("end a conversation by its printed name (%s, %s)", async (tenantId, id, name) => {
    const call = { tenantId, conversationId: id, tool: "delete_row", arguments: {} };
    await gate.propose({ ...call, callId: "1" });
    const listed = await run("approvals", "list");
    const tailed = await run("tail", "--once", "--conversation", name);
    const ended = await run("conversations", "end", name);
    const after = await gate.propose({ ...call, callId: "2" });

    expect(listed.stdout).toMatch(new RegExp(` ${name} +delete_row`));
    expect(tailed.stdout).toContain(`  ${name}  delete_row`);
    expect(ended).toMatchObject({ code: 0, stdout: `${name}: ended\n` });
    expect(after.refusal?.reason).toBe("conversation_ended");
  });

  it.each(["", "/c9", "c9/"])("end no impossible conversation: %j", async (name) => {
    const { code, stdout, stderr } = await run("conversations", "end", name);

    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toContain(`\`${name}\`: `);
    expect(stderr).toContain("must be 1 to 256 bytes of UTF-8");
  });

  it("reconcile a call with an unknown outcome, and no other", async () => {
    const { decisionId = "" } = await propose("unknown", "charge_card", { order: 9 });
    await gate.report(decisionId, { status: "unknown" });
    const unknown = await run("explain", decisionId);
    const reconciled = await run("calls", "reconcile", decisionId, "--outcome", "not_executed");
    const explained = await run("explain", decisionId);
    const again = await run("calls", "reconcile", decisionId, "--outcome", "succeeded");
    const asJson = ["calls", "reconcile", decisionId, "--outcome", "succeeded", "--json"];
    expect(JSON.parse((await run(...asJson)).stdout)).toMatchObject({ taken: false });
    const missing = await run("calls", "reconcile", "ffffffff", "--outcome", "failed");

    expect(unknown.stdout).toMatch(/^result +unknown at \S+Z$/m);
    expect(reconciled).toMatchObject({ code: 0, stdout: `${decisionId}: reconciled\n` });
    expect(explained.stdout).toMatch(/^result +not_executed at \S+Z, reported by \w+$/m);
    expect(again).toMatchObject({ code: 2, stdout: expect.stringContaining("changed nothing") });
    expect(missing).toMatchObject({ code: 2, stderr: expect.stringContaining("no decision") });
  });
});
