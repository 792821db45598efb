// The library on a data directory: what survives the process, and what it reports in error cases.
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, expect, test, vi } from "vitest";
import type { VerdictInput } from "../../services/core/inputs.ts";
import {
  type Callgate,
  CallgateError,
  isRefused,
  openCallgate,
} from "../../services/library/callgate.ts";
import { openLog } from "../../services/process/directory/open-log.ts";
import { ensureBuilt } from "../../tasks/ensure-built.js";
import { makeDirectory, openGate, SHOP_POLICY } from "../support/open-gate.ts";

const REPOSITORY = fileURLToPath(new URL("../..", import.meta.url));
const CONTEXT = { conversationId: "c1", turn: 1 };
const PAY = { ...CONTEXT, callId: "call-1", tool: "charge_card", arguments: { order: "7" } };

beforeAll(() => ensureBuilt());

/** As `callgate approvals` and `calls` append it, from a process of their own. */
async function verdictElsewhere(dataDir: string, overrides: Partial<VerdictInput>): Promise<void> {
  const client = openLog(dataDir);
  const verdict = client.codec.encodeVerdict({
    type: "verdict",
    kind: "deny",
    tenantId: "default",
    conversationId: "c1",
    approvalId: null,
    decisionId: null,
    outcome: null,
    tier: null,
    tool: null,
    calls: null,
    untilMs: null,
    by: "ann",
    reason: null,
    ...overrides,
  });
  await client.log.append([{ topic: "verdicts", partition: 0, key: "default/c1", value: verdict }]);
  await client.close();
}

async function errorOf(action: Promise<unknown>): Promise<CallgateError> {
  const error = await action.catch((thrown: unknown) => thrown);
  if (error instanceof CallgateError) return error;
  throw new Error(`no CallgateError: ${String(error)}`);
}

test("decisions, keys, holds and results survive a restart", async () => {
  const dataDir = join(makeDirectory(), "data");
  const before = await openGate({ dataDir });
  const paid = await before.propose(PAY);
  await before.report(paid.decisionId ?? "", { status: "succeeded", output: { receipt: "R-1" } });
  const open = await before.propose({ ...PAY, callId: "call-2", arguments: { order: "8" } });
  const removal = { ...PAY, callId: "call-3", tool: "delete_order" };
  const held = await before.propose(removal);
  await before.close();

  const gate = await openGate({ dataDir });
  expect(await gate.propose(PAY)).toEqual({ ...paid, repeated: true });
  expect(await gate.previousResult(paid.decisionId ?? "")).toMatchObject({
    output: { receipt: "R-1" },
    whole: true,
  });
  const reported = await gate.report(open.decisionId ?? "", { status: "failed" });
  expect(reported).toEqual({ recorded: true, status: "failed" });
  const waiting = gate.awaitDecision(held.decisionId ?? "");
  const approved = await gate.approve(held.approvalId ?? "", { by: "ann" });
  expect(approved.outcome).toBe("allowed");
  expect(await waiting).toEqual(approved);
  expect(statSync(join(dataDir, "secret")).mode & 0o777).toBe(0o600);
  expect(readFileSync(join(dataDir, ".gitignore"), "utf8")).toBe("*\n");
});

test("a write that the process had started when it ended does not run again", async () => {
  const dataDir = join(makeDirectory(), "data");
  const before = await openGate({ dataDir });
  const { decisionId = "" } = await before.propose(PAY);
  await before.report(decisionId, { status: "started" });
  await before.close();

  const gate = await openGate({ dataDir });
  let runs = 0;
  const tools = gate.guard({ charge_card: (_: { order: string }) => ++runs }, CONTEXT);
  const again = await tools.charge_card({ order: "7" }, { callId: "call-1" });
  expect(isRefused(again) && again.reason).toBe("outcome_unknown");
  const other = await tools.charge_card({ order: "7" });
  expect(isRefused(other) && other.reason).toBe("outcome_unknown");
  expect(runs).toBe(0);
});

test("a write that was allowed but not started runs when it is called again under its id", async () => {
  const dataDir = join(makeDirectory(), "data");
  const before = await openGate({ dataDir });
  const { idempotencyKey } = await before.propose(PAY);
  await before.close();

  const gate = await openGate({ dataDir });
  const tools = gate.guard(
    { charge_card: (_: { order: string }, call) => call.idempotencyKey },
    CONTEXT,
  );
  expect(await tools.charge_card({ order: "7" }, { callId: "call-1" })).toBe(idempotencyKey);
  expect(await tools.charge_card({ order: "7" }, { callId: "call-1" })).toBe(idempotencyKey);
});

test("a verdict that another process appends decides the call", async () => {
  const dataDir = join(makeDirectory(), "data");
  const gate = await openGate({ dataDir });
  const held = await gate.propose({ ...PAY, tool: "delete_order" });
  const waiting = gate.awaitDecision(held.decisionId ?? "");
  await verdictElsewhere(dataDir, { kind: "deny", approvalId: held.approvalId ?? "" });
  expect((await waiting).refusal?.reason).toBe("approval_denied");
});

test("a person's reconciliation also holds in the process that had reported unknown", async () => {
  const dataDir = join(makeDirectory(), "data");
  const before = await openGate({ dataDir });
  const { decisionId = "" } = await before.propose(PAY);
  const report = { status: "unknown", output: "card ac", error: { message: "cut off" } } as const;
  await before.report(decisionId, report);
  expect(await before.awaitResult(decisionId)).toMatchObject({ status: "unknown" });
  await verdictElsewhere(dataDir, { kind: "reconcile", decisionId, outcome: "succeeded" });
  const again = async (gate: Callgate) => {
    const tools = gate.guard({ charge_card: (_: { order: string }) => "ran" }, CONTEXT);
    const answer = await tools.charge_card({ order: "7" }, { callId: "call-1" });
    return isRefused(answer) ? answer.reason : answer;
  };
  await vi.waitFor(
    async () => expect((await before.awaitResult(decisionId)).status).toBe("succeeded"),
    { timeout: 30_000 },
  );
  // It ran, and its output is unknown: it must not look like a handler that returned `undefined`.
  expect(await again(before)).toBe("duplicate_call");
  const alreadyReported = { recorded: false, why: "already_reported" };
  expect(await before.report(decisionId, { status: "failed" })).toEqual(alreadyReported);
  expect(await before.previousResult(decisionId)).toMatchObject({ output: "card ac" });
  await before.close();

  const gate = await openGate({ dataDir });
  expect(await gate.awaitResult(decisionId)).toMatchObject({ status: "succeeded" });
  expect(await again(gate)).toBe("duplicate_call");
  expect(await gate.report(decisionId, { status: "failed" })).toEqual(alreadyReported);
  expect(await gate.previousResult(decisionId)).toMatchObject({ output: "card ac" });
});

test("a second gate on the directory is refused with the pid of the first", async () => {
  const dataDir = join(makeDirectory(), "data");
  await openGate({ dataDir });
  const code = `
    import { openCallgate } from "callgate";
    const opened = openCallgate({ policy: {}, dataDir: ${JSON.stringify(dataDir)} });
    const { code, pid, message } = await opened.catch((error) => error);
    process.stdout.write(JSON.stringify({ code, pid, message }));`;
  const args = ["--input-type=module", "--eval", code];
  const child = spawn(process.execPath, args, { cwd: REPOSITORY });
  let printed = "";
  for await (const chunk of child.stdout) printed += String(chunk);
  const error = JSON.parse(printed);
  expect(error).toMatchObject({ code: "data_dir_in_use", pid: process.pid });
  expect(error.message).toContain(String(process.pid));
  const here = await errorOf(openCallgate({ policy: {}, dataDir }));
  expect(here).toMatchObject({ code: "data_dir_in_use", pid: process.pid });
});

test("an invalid policy file is refused with all problems and locations, and leaves nothing behind", async () => {
  const directory = makeDirectory();
  const dataDir = join(directory, "data");
  const policy = join(directory, "policy.yaml");
  writeFileSync(policy, "budgets:\n  max_step: 3\ntool_schemas:\n  pay: { colour: red }\n");
  const error = await errorOf(openCallgate({ policy, dataDir }));
  expect(error.code).toBe("policy_invalid");
  expect(error.problems.map(({ line, column }) => [line, column])).toEqual([
    [2, 3],
    [4, 10],
  ]);
  expect(error.message).toContain(`${policy}:2:3: budgets.max_step`);
  expect(error.message).toContain(`${policy}:4:10: tool_schemas.pay.colour`);
  expect(existsSync(dataDir)).toBe(false);
  const missing = await errorOf(openCallgate({ policy: join(directory, "no.yaml"), dataDir }));
  expect(missing.code).toBe("policy_unreadable");
  expect(missing.message).toContain("no.yaml");
});

test("an unusable data directory is refused with the reason", async () => {
  const directory = makeDirectory();
  const file = join(directory, "file");
  writeFileSync(file, "");
  const notOne = await errorOf(openCallgate({ policy: SHOP_POLICY, dataDir: file }));
  expect(notOne.code).toBe("data_dir_unusable");
  expect(notOne.message).toContain(file);
  const damaged = join(directory, "damaged");
  mkdirSync(damaged);
  writeFileSync(join(damaged, "log.mdb"), Buffer.alloc(65_536, 7));
  const broken = await errorOf(openCallgate({ policy: SHOP_POLICY, dataDir: damaged }));
  expect(broken.code).toBe("data_dir_unusable");
});

test("a program that is done with its gate ends, even without closing it", async () => {
  const dataDir = join(makeDirectory(), "data");
  const code = `
    import { openCallgate } from "callgate";
    const gate = await openCallgate({ policy: {}, dataDir: ${JSON.stringify(dataDir)} });
    const { outcome } = await gate.propose({ conversationId: "c", tool: "t", arguments: {} });
    process.stdout.write(outcome);`;
  const args = ["--input-type=module", "--eval", code];
  const child = spawn(process.execPath, args, { cwd: REPOSITORY });
  let printed = "";
  for await (const chunk of child.stdout) printed += String(chunk);
  const status = child.exitCode ?? (await new Promise((resolve) => child.once("close", resolve)));
  expect([printed, status]).toEqual(["allowed", 0]);
});

test("the gate logs if its operator asks for it, and is quiet otherwise", async () => {
  const dataDir = join(makeDirectory(), "data");
  const code = `
    import { openCallgate } from "callgate";
    const options = { policy: {}, dataDir: ${JSON.stringify(dataDir)} };
    const gate = await openCallgate(options).catch((error) => error.message);
    if (typeof gate === "string") process.stderr.write(gate);
    else await gate.close();`;
  const said = async (level: string): Promise<string> => {
    const args = ["--input-type=module", "--eval", code];
    const env = { ...process.env, CALLGATE_LOG: level };
    const child = spawn(process.execPath, args, { cwd: REPOSITORY, env });
    let printed = "";
    for await (const chunk of child.stderr) printed += String(chunk);
    return printed;
  };
  expect(await said("")).toBe("");
  expect(await said("info")).toMatch(/^info: a partition was restored partition=0 /);
  expect(await said("loud")).toContain("set it to one of debug, info, warn, error, silent");
});

test("a call beyond every limit is decided, and does not hold up the calls made with it", async () => {
  const gate = await openGate({ dataDir: join(makeDirectory(), "data") });
  const call = (callId: string) => ({ ...PAY, callId, arguments: { order: callId } });
  const text = "x".repeat(9 * 1024 * 1024);
  const decisions = await Promise.all([
    gate.propose(call("call-1")),
    gate.propose({ ...call("call-2"), assistantText: text }),
    gate.propose({ ...call("call-3"), arguments: { order: text } }),
    gate.propose(call("call-4")),
  ]);
  expect(decisions.map(({ callId, outcome }) => [callId, outcome])).toEqual([
    ["call-1", "allowed"],
    ["call-2", "allowed"],
    ["call-3", "refused"],
    ["call-4", "allowed"],
  ]);
  expect(decisions[2]?.refusal?.reason).toBe("too_large");
});
