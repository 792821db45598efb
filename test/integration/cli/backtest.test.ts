// Backtests of a journal on disk and of recordings, under another policy.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openCallgate } from "../../../services/library/callgate.ts";
import { runInProcess } from "../../support/memory-terminal.ts";

const SAMPLE = fileURLToPath(new URL("../../../infra/recordings/sample.jsonl", import.meta.url));
const DEMO = fileURLToPath(new URL("../../../infra/policies/demo.yaml", import.meta.url));

const CURRENT = `policy_engine:
  authorization:
    tiers:
      - { name: destructive, pattern: "delete_*", action: hitl, expires_ms: 900000 }
  tool_schemas:
    charge_card: {}
    get_order: { read_only: true }
`;

let directory = "";
let dataDir = "";
let current = "";

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), "callgate-backtest-"));
  dataDir = join(directory, "data");
  current = file("current.yaml", CURRENT);
  const gate = await openCallgate({ policy: current, dataDir });
  const call = async (conversationId: string, callId: string, tool: string, order: number) => {
    const decision = await gate.propose({ conversationId, callId, tool, arguments: { order } });
    if (decision.outcome === "allowed") {
      await gate.report(decision.decisionId ?? "", { status: "succeeded", output: "done" });
    }
    return decision;
  };
  await call("a", "1", "charge_card", 7);
  await call("a", "2", "charge_card", 7);
  await call("a", "3", "charge_card", 8);
  await call("b", "1", "get_order", 7);
  const held = await call("b", "2", "delete_order", 7);
  if (held.outcome !== "held") throw new Error("the call was not held");
  await gate.approve(held.approvalId ?? "", { by: "ana" });
  await gate.report(held.decisionId ?? "", { status: "succeeded", output: "gone" });
  await call("b", "3", "delete_order", 7);
  await call("c", "1", "charge_card", 1);
  await gate.close();
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

function file(name: string, text: string): string {
  const path = join(directory, name);
  writeFileSync(path, text);
  return path;
}

async function backtest(...args: string[]) {
  const { code, stdout, stderr } = await runInProcess(["backtest", ...args, "--json"]);
  expect(stderr).toBe("");
  return { code, ...JSON.parse(stdout) };
}

const replaced = (from: string, to: string) => file("candidate.yaml", CURRENT.replace(from, to));

describe("backtest of a journal", () => {
  it("finds no change under the policy that decided it, including holds and verdicts", async () => {
    const same = await backtest("-d", dataDir, "--candidate", current);
    const both = await backtest("-d", dataDir, "--policy", current, "--candidate", current);

    expect(same).toMatchObject({
      code: 0,
      decisions: 8,
      changed: 0,
      conversations: 3,
      changes: [],
    });
    expect(both).toEqual(same);
  });

  it("shows changes by rule and tool, with examples", async () => {
    const candidate = replaced("charge_card: {}", "charge_card: { risk_level: HIGH }");
    const report = await backtest("-d", dataDir, "--candidate", candidate);

    expect(report).toMatchObject({ code: 1, decisions: 8, changed: 4, conversationsChanged: 2 });
    expect(report.changes).toEqual([
      {
        rule: "authorization.tiers[0]",
        tool: "charge_card",
        before: "allowed",
        after: "held",
        calls: 3,
        first: 2,
        examples: [
          { location: expect.stringMatching(/^0\/\d+$/), callId: "1", arguments: '{"order":7}' },
          { location: expect.stringMatching(/^0\/\d+$/), callId: "1", arguments: '{"order":1}' },
        ],
        location: `${candidate}:4:9`,
      },
      expect.objectContaining({
        before: "refused duplicate_call",
        after: "refused duplicate_in_flight",
        calls: 1,
        first: 0,
      }),
    ]);
  });

  it("answers a hold that has another id under the candidate's rule", async () => {
    const candidate = replaced("expires_ms: 900000", "expires_ms: 800000, approvals: 1");
    const report = await backtest("-d", dataDir, "--candidate", candidate);

    expect(report).toMatchObject({ code: 0, decisions: 8, changed: 0 });
  });

  it("exits 0 for changes with --allow-changes, and shows the policy line", async () => {
    const candidate = replaced("action: hitl, expires_ms: 900000", "action: deny");
    const args = ["backtest", "-d", dataDir, "--candidate", candidate, "--allow-changes"];
    const { code, stdout } = await runInProcess(args);

    expect(code).toBe(0);
    expect(stdout).toContain("2 of 7 decisions changed, in 1 of 3 conversations");
    expect(stdout).toContain(`authorization.tiers[0] (${candidate}:4:9)`);
    expect(stdout).toMatch(/call 2: delete_order \{"order":7\}: held, now refused tier_denied/);
  });
});

describe("backtest of recordings", () => {
  it("runs them through both policies", async () => {
    const laxer = file("laxer.yaml", "tool_schemas: { create_document: { repeatable: true } }\n");
    const none = await backtest(SAMPLE, "--policy", DEMO, "--candidate", DEMO);
    const report = await backtest(SAMPLE, "--policy", DEMO, "--candidate", laxer);

    expect(none).toMatchObject({ code: 0, decisions: 14, changed: 0, conversations: 4 });
    expect(report.code).toBe(1);
    expect(report.changes[0].examples[0].location).toMatch(/sample\.jsonl:\d$/);
  });

  it("needs a policy to compare with, and no journal beside them", async () => {
    const alone = await runInProcess(["backtest", SAMPLE, "--candidate", DEMO]);
    const mixed = await runInProcess(["backtest", SAMPLE, "-d", dataDir, "--candidate", DEMO]);

    expect(alone.code).toBe(2);
    expect(alone.stderr).toContain("give the current policy with --policy");
    expect(mixed.stderr).toContain("leave out the files, or the journal");
  });

  it("reports an invalid line, and continues", async () => {
    const broken = file("broken.jsonl", '{"id":1}\n{"id":"a","calls":[]}\n');
    const args = ["backtest", broken, "--policy", DEMO, "--candidate", DEMO];
    const { code, stderr } = await runInProcess(args);

    expect(code).toBe(2);
    expect(stderr).toContain(`${broken}:1: `);
  });
});

describe("backtest of a journal with sensitive arguments", () => {
  const SENSITIVE = `policy_engine:
  tool_schemas:
    charge_card:
      sensitive: [card]
      input_schema: { type: object, properties: { card: { type: string, pattern: "^[0-9]+$" } } }
      normalizers: { card: to_int }
      effects: [{ resource: "card/{card}", kind: charge, exclusive: false }]
`;
  let sensitiveDir = "";

  beforeAll(async () => {
    sensitiveDir = join(directory, "sensitive");
    const gate = await openCallgate({
      policy: file("sensitive.yaml", SENSITIVE),
      dataDir: sensitiveDir,
    });
    const call = async (callId: string, card: unknown) =>
      await gate.propose({ conversationId: "a", callId, tool: "charge_card", arguments: { card } });
    await call("1", "4111");
    await call("2", "4111");
    await call("3", "not a card");
    await call("4", "4222");
    await gate.close();
  });

  it("finds no change under its own policy, though nobody can read the arguments", async () => {
    const policy = join(directory, "sensitive.yaml");
    const { code, changes } = await backtest("--data-dir", sensitiveDir, "--candidate", policy);
    expect([code, changes]).toEqual([0, []]);
  });

  it("shows digests if another policy decides otherwise", async () => {
    const stricter = file(
      "stricter.yaml",
      SENSITIVE.replace("exclusive: false", "exclusive: true").replace("card/{card}", "cards"),
    );
    const { code, changes } = await backtest("--data-dir", sensitiveDir, "--candidate", stricter);
    expect(code).toBe(1);
    expect(JSON.stringify(changes)).toMatch(/sealed:/);
    expect(JSON.stringify(changes)).not.toMatch(/4111|4222|not a card/);
  });
});
