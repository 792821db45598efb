// What the command line says about a verdict: why it is not sent, and what came of it.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Callgate, openCallgate } from "../../../services/library/callgate.ts";
import { runInProcess } from "../../support/memory-terminal.ts";

const policyOf = (expiresMs: number) => `authorization:
  tiers:
    - { name: removals, pattern: "delete_*", action: hitl, expires_ms: ${expiresMs} }
    - { name: twice, pattern: "pay_*", action: hitl, approvals: 2, expires_ms: 900000 }
    - { name: some, pattern: "send_*", action: per_conversation_grant, ceiling: 1, on_exceeded: hitl }
`;

let directory = "";
let dataDir = "";
let gate: Callgate;
let calls = 0;

const open = async (expiresMs: number) => {
  const policy = join(directory, "policy.yaml");
  writeFileSync(policy, policyOf(expiresMs));
  return await openCallgate({ policy, dataDir });
};

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), "callgate-words-"));
  dataDir = join(directory, "data");
  gate = await open(900_000);
});
afterAll(async () => {
  await gate.close();
  rmSync(directory, { recursive: true, force: true });
});

const run = (...args: string[]) => runInProcess([...args, "-d", dataDir]);
const approvals = (...args: string[]) => run("approvals", ...args);

async function held(conversationId: string, tool = "delete_row"): Promise<string> {
  calls += 1;
  const call = { conversationId, callId: `c${calls}`, tool, arguments: { n: calls } };
  const { approvalId } = await gate.propose(call);
  if (approvalId === undefined) throw new Error("the call was not held");
  return approvalId;
}

async function lineOf(id: string): Promise<string> {
  const { stdout } = await approvals("list");
  return stdout.split("\n").find((line) => line.startsWith(id)) ?? "";
}

describe("a verdict is not sent", () => {
  it.each([
    [["--action", ""], "--action: ``: give at least 6 characters of the digest"],
    [["--rule", "abcde"], "--rule: `abcde`: give at least 6 characters of the digest"],
    [["--call", ""], "--call: give the id of the call that you reviewed"],
    [["--calls", "99999999999999"], "it must be a whole number from 1 to 2147483647, or any"],
    [["--calls", "2147483648"], "it must be a whole number from 1 to 2147483647, or any"],
  ])("if an option is %j", async (words, message) => {
    const id = await held(`option-${calls}`);
    const { code, stdout, stderr } = await approvals("approve", id, "--by", "ann", ...words);

    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toContain(message);
    expect(await lineOf(id)).not.toBe("");
  });

  it("if a grant is of more calls than can be counted", async () => {
    await held("much");
    const more = ["--tool", "delete_row", "--calls"];
    const much = await approvals("grant", "much", ...more, "1e15");
    const most = await approvals("grant", "much", ...more, "2147483647");

    expect(much.code).toBe(2);
    expect(much.stderr).toContain("it must be a whole number from 1 to 2147483647, or any");
    expect(most.stdout).toBe("much: granted\n");
  });
});

describe("a call of a conversation that has ended", () => {
  it("is listed as such, and cannot be approved until the conversation is reopened", async () => {
    const id = await held("over");
    await run("conversations", "end", "over");
    const listed = await lineOf(id);
    const shown = await approvals("show", id);
    const asJson = await approvals("list", "--json");
    const approved = await approvals("approve", id, "--by", "ann");
    await run("conversations", "reopen", "over");
    const reopened = await lineOf(id);
    const again = await approvals("approve", id, "--by", "ann");

    expect(listed).toContain("conversation ended");
    expect(shown.stdout).toMatch(/^conversation +over, ended: an approved call is refused; /m);
    const { approvals: all } = JSON.parse(asJson.stdout) as { approvals: readonly object[] };
    expect(all).toContainEqual(
      expect.objectContaining({ approvalId: id, conversationEnded: true }),
    );
    expect(approved).toMatchObject({ code: 2, stdout: "" });
    expect(approved.stderr).toContain(
      `${id}: not recorded, because its conversation has ended, and the gate would refuse the call; callgate conversations reopen "over"`,
    );
    expect(reopened).not.toContain("ended");
    expect(again.stdout).toBe(`${id} delete_row: allowed\n`);
  });

  it("can be denied", async () => {
    const id = await held("no");
    await run("conversations", "end", "no");
    const denied = await approvals("deny", id, "--by", "ann");

    expect(denied).toMatchObject({
      code: 0,
      stdout: `${id} delete_row: refused (approval_denied)\n`,
    });
  });
});

describe("a call that was already decided", () => {
  it("is shown with the decision, when and by whom", async () => {
    const [one, two] = [await held("decided"), await held("decided")];
    await approvals("approve", one, "--by", "Ann Lee");
    await approvals("deny", two, "--by", "ben");
    const allowed = await approvals("approve", one.slice(0, 12), "--by", "cleo");
    const denied = await approvals("show", two);

    expect([allowed.code, denied.code]).toEqual([2, 2]);
    expect(allowed.stderr).toMatch(
      /no call waits under this id: it was decided, allowed at \S+Z, approved by "Ann Lee"/,
    );
    expect(denied.stderr).toMatch(
      /it was decided, refused \(approval_denied\) at \S+Z, denied or cancelled by ben/,
    );
  });
});

describe("the reason why a call is held", () => {
  it("is shown to the approver, not to the model", async () => {
    const first = { conversationId: "why", callId: "first", tool: "send_mail", arguments: {} };
    expect((await gate.propose(first)).outcome).toBe("allowed");
    const used = await approvals("show", await held("why", "send_mail"));
    const plain = await approvals("show", await held("why"));

    expect(plain.stdout).toMatch(
      /^why held +the tier removals asks for a person's approval before the call may run$/m,
    );
    expect(used.stdout).toMatch(
      /^why held +the tier some asks for .* run\. All 1 calls of tier `some` are used up\.$/m,
    );
    expect(used.stdout + plain.stdout).not.toContain("tell the user");
  });
});

it("a grant in a tier with several approvers explains why it is impossible", async () => {
  await held("several", "pay_bill");
  const { code, stdout } = await approvals("grant", "several", "--tool", "pay_bill");

  expect(code).toBe(2);
  expect(stdout).toContain("so its calls are approved one by one");
  expect(stdout).not.toContain("--calls");
});

// Must come last, because it replaces the gate.
it("a verdict reports the new id of a call that is held anew, and what is certain while no gate answers", async () => {
  const [id, other] = [await held("anew"), await held("anew")];
  await gate.close();
  const waiting = await approvals("approve", other, "--by", "ann");
  gate = await open(800_000);
  const anew = await approvals("approve", id, "--by", "ann", "--json");
  const { heldAs = "" } = JSON.parse(anew.stdout) as { heldAs?: string };
  await gate.close();
  gate = await open(700_000);
  const again = await approvals("approve", heldAs, "--by", "ann");
  const decided = await approvals("approve", id, "--by", "ann");

  expect(waiting.stdout).toBe(
    `${other} delete_row: approve is recorded; no gate has processed it within 3 s; the next program that opens the directory will\n`,
  );
  expect(JSON.parse(anew.stdout)).toMatchObject({ outcome: "held", taken: true });
  expect(again.stdout).toMatch(
    /held anew under [0-9a-f]{32}: the rule has changed, and earlier verdicts are void\n/,
  );
  expect(again.stdout).not.toContain(`under ${heldAs}`);
  expect(decided.stderr).toMatch(
    new RegExp(`held anew at \\S+Z under ${heldAs}, because the rule`),
  );
});
