import { describe, expect, test } from "vitest";
import type { ProposedCall } from "../../../services/client/api/gate-types.ts";
import { CallgateError, openCallgate } from "../../../services/library/callgate.ts";
import { makeDirectory, openGate, SHOP_POLICY } from "../../support/open-gate.ts";

const CALL: ProposedCall = {
  conversationId: "c1",
  turn: 1,
  step: 1,
  callId: "call-1",
  tool: "charge_card",
  arguments: { order: "7" },
};

async function codeOf(action: Promise<unknown>): Promise<string> {
  const error = await action.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(CallgateError);
  return error instanceof CallgateError ? error.code : "";
}

describe("propose", () => {
  test("allows with a key, a deadline and the parsed arguments", async () => {
    const gate = await openGate();
    const decision = await gate.propose({ ...CALL, arguments: '{ "order" : "7" }' });
    expect(decision).toMatchObject({
      outcome: "allowed",
      callId: "call-1",
      tool: "charge_card",
      arguments: { order: "7" },
      isRead: false,
      repeated: false,
      warnings: [],
    });
    expect(decision.decisionId).toMatch(/^[0-9a-f]{32}$/);
    expect(decision.idempotencyKey).toMatch(/^[\w-]{43}$/);
    expect(decision.notAfter).toBeGreaterThan(Date.now());
  });

  test("returns the recorded decision when the same call is repeated", async () => {
    const gate = await openGate();
    const first = await gate.propose(CALL);
    await gate.report(first.decisionId ?? "", { status: "succeeded", output: "paid" });
    const again = await gate.propose({ ...CALL, arguments: '{"order":"7"}' });
    expect(again).toEqual({ ...first, repeated: true });
  });

  test("refuses another call under the same id and leaves the first alone", async () => {
    const gate = await openGate();
    await gate.propose(CALL);
    const other = await gate.propose({ ...CALL, arguments: { order: "8" } });
    expect(other.refusal?.reason).toBe("call_id_conflict");
    expect((await gate.propose(CALL)).outcome).toBe("allowed");
  });

  test("makes a call id if there is none", async () => {
    const gate = await openGate();
    const { callId: _none, ...nameless } = CALL;
    const reads = { ...nameless, tool: "get_order" };
    const [one, two] = await Promise.all([gate.propose(reads), gate.propose(reads)]);
    expect(one?.callId).not.toBe(two?.callId);
  });

  test("puts the key into the declared argument, whatever the model wrote there", async () => {
    const policy = { tool_schemas: { pay: { idempotency_argument: "key" } } };
    const gate = await openGate({ policy });
    const pay = { ...CALL, tool: "pay" };
    const decision = await gate.propose({ ...pay, arguments: { order: "7", key: "mine" } });
    expect(decision.arguments).toEqual({ order: "7", key: decision.idempotencyKey });
    await gate.report(decision.decisionId ?? "", { status: "succeeded" });
    const repeat = { ...pay, callId: "call-2", arguments: { order: "7", key: "other" } };
    expect((await gate.propose(repeat)).refusal?.reason).toBe("duplicate_call");
  });

  test("puts the key into a nested argument, and treats calls that differ only there as one", async () => {
    const policy = { tool_schemas: { pay: { idempotency_argument: "options.key" } } };
    const gate = await openGate({ policy });
    const pay = (callId: string, key: string) =>
      gate.propose({ ...CALL, callId, tool: "pay", arguments: { order: "7", options: { key } } });
    const decision = await pay("call-1", "mine");
    expect(decision.arguments).toEqual({ order: "7", options: { key: decision.idempotencyKey } });
    await gate.report(decision.decisionId ?? "", { status: "succeeded" });
    expect((await pay("call-2", "other")).refusal?.reason).toBe("duplicate_call");
  });

  test("keeps the key of a write in doubt, whatever key the model makes up for the next try", async () => {
    const policy = { tool_schemas: { pay: { idempotency_argument: "request.key" } } };
    const gate = await openGate({ policy });
    const pay = (callId: string) => {
      const args = { order: "7", request: { key: `made-up-${callId}` } };
      return gate.propose({ ...CALL, callId, tool: "pay", arguments: args });
    };
    const first = await pay("call-1");
    await gate.report(first.decisionId ?? "", {
      status: "failed",
      error: { message: "connection reset" },
    });
    const second = await pay("call-2");
    expect(second.outcome).toBe("allowed");
    expect(second.arguments).toEqual({ order: "7", request: { key: first.idempotencyKey } });
    const reported: unknown[] = [];
    const run = (args: unknown) => reported.push(args);
    const tools = gate.guard({ pay: run }, { conversationId: "c2", turn: 1 });
    await tools.pay?.({ order: "8", request: { key: "made-up" } });
    expect(reported).toEqual([
      { order: "8", request: { key: expect.stringMatching(/^[\w-]{43}$/) } },
    ]);
  });

  test("accepts a call without the key that its schema requires, and fills it in", async () => {
    const schema = (key: object) => ({
      type: "object",
      required: ["order", "key"],
      additionalProperties: false,
      properties: { order: { type: "string" }, key },
    });
    const policy = {
      tool_schemas: {
        pay: { idempotency_argument: "key", input_schema: schema({ type: "string" }) },
      },
    };
    const gate = await openGate({ policy });
    const pay = (callId: string, args: object) =>
      gate.propose({ ...CALL, callId, tool: "pay", arguments: { ...args } });
    const decision = await pay("call-1", { order: "7" });
    expect(decision.arguments).toEqual({ order: "7", key: decision.idempotencyKey });
    expect((await pay("call-2", { order: "8", key: 8 })).outcome).toBe("allowed");
    const invalid = await pay("call-3", { key: "mine" });
    expect(invalid.refusal?.reason).toBe("invalid_arguments");
    expect(invalid.refusal?.message).toContain("order");
  });

  test("lets the gate refuse the model's mistakes", async () => {
    const gate = await openGate();
    let calls = 0;
    const refused = async (call: Partial<ProposedCall>) => {
      calls += 1;
      return (await gate.propose({ ...CALL, ...call, callId: `call-${calls}` })).refusal;
    };
    expect((await refused({ arguments: '{"order":' }))?.reason).toBe("malformed");
    expect((await refused({ arguments: '{"a":1,"a":2}' }))?.reason).toBe("malformed");
    expect((await refused({ arguments: "x".repeat(2_000_000) }))?.reason).toBe("too_large");
    expect((await refused({ tool: "drop_tables" }))?.reason).toBe("unknown_tool");
    expect((await refused({ tool: "ünknown" }))?.reason).toBe("malformed");
  });

  test("throws for the program's own mistakes", async () => {
    const gate = await openGate();
    const wrong: readonly Partial<ProposedCall>[] = [
      { conversationId: "" },
      { tenantId: "a/b" },
      { turn: 1.5 },
      { callId: "a\u0308" },
      { arguments: { amount: Number.NaN } },
      { arguments: { ids: new Set([1]) } },
      { arguments: { amount: 1n } },
    ];
    for (const part of wrong) {
      expect(await codeOf(gate.propose({ ...CALL, ...part }))).toBe("invalid_input");
    }
  });
});

describe("report", () => {
  test("keeps its status whatever its output says, and learns that it had been reported", async () => {
    const gate = await openGate();
    const { decisionId = "" } = await gate.propose(CALL);
    expect(await gate.report(decisionId, { status: "started" })).toEqual({
      recorded: true,
      status: "started",
    });
    expect(await gate.report(decisionId, { status: "started" })).toEqual({
      recorded: false,
      why: "already_reported",
    });
    const output = { error: "card declined", status: 402 };
    const succeeded = { recorded: true, status: "succeeded" };
    expect(await gate.report(decisionId, { status: "succeeded", output })).toEqual(succeeded);
    const late = { recorded: false, why: "already_reported" };
    expect(await gate.report(decisionId, { status: "succeeded" })).toEqual(late);
  });

  test("learns that a concurrent report came first", async () => {
    const gate = await openGate();
    const { decisionId = "" } = await gate.propose(CALL);
    await gate.report(decisionId, { status: "unknown" });
    const report = { status: "succeeded", output: "paid" } as const;
    const outcomes = await Promise.all([1, 2, 3].map(() => gate.report(decisionId, report)));
    const late = { recorded: false, why: "already_reported" };
    expect(outcomes).toEqual([{ recorded: true, status: "succeeded" }, late, late]);
  });

  test("learns that the call does not exist, or was never allowed", async () => {
    const gate = await openGate();
    const unknown = { recorded: false, why: "unknown_call" };
    expect(await gate.report("no such decision", { status: "succeeded" })).toEqual(unknown);
    const { decisionId = "", outcome } = await gate.propose({ ...CALL, arguments: "{" });
    expect(outcome).toBe("refused");
    expect(await gate.report(decisionId, { status: "succeeded" })).toEqual(unknown);
  });

  test("learns after a restart that the outcome had been reported", async () => {
    const dataDir = makeDirectory();
    const before = await openGate({ dataDir });
    const { decisionId = "" } = await before.propose(CALL);
    await before.report(decisionId, { status: "succeeded" });
    await before.close();
    const gate = await openGate({ dataDir });
    const late = { recorded: false, why: "already_reported" };
    expect(await gate.report(decisionId, { status: "succeeded" })).toEqual(late);
  });

  test("shows a failure's error to callers that wait for the result", async () => {
    const gate = await openGate();
    const { decisionId = "" } = await gate.propose(CALL);
    const error = { code: "declined", message: "card declined", retryable: false };
    await gate.report(decisionId, { status: "failed", error });
    expect(await gate.awaitResult(decisionId)).toMatchObject({ status: "failed", error });
  });

  test("keeps what a refusal refers to, whole or in part", async () => {
    const gate = await openGate();
    const large = "x".repeat(40_000);
    const huge = "y".repeat(400_000);
    const refOf = async (order: string, output: string): Promise<string> => {
      const call = { ...CALL, callId: `first-${order}`, arguments: { order } };
      const { decisionId = "" } = await gate.propose(call);
      await gate.report(decisionId, { status: "succeeded", output });
      const again = await gate.propose({ ...call, callId: `second-${order}` });
      const previous = again.refusal?.previousResult;
      expect(previous).toMatchObject({ bytes: output.length });
      return previous && "ref" in previous ? previous.ref : "";
    };
    const wholeResult = await gate.previousResult(await refOf("1", large));
    expect(wholeResult).toMatchObject({
      status: "succeeded",
      output: large,
      whole: true,
      bytes: 40_000,
    });
    const cut = await gate.previousResult(await refOf("2", huge));
    expect(cut).toMatchObject({ whole: false, bytes: 400_000 });
    expect(huge.startsWith(String(cut?.output))).toBe(true);
    expect(await codeOf(gate.previousResult("no such decision"))).toBe("unknown_decision");
  });
});

describe("a held call", () => {
  const removal = { ...CALL, tool: "delete_order" };

  test("is allowed by an approval, and waiting callers learn of it", async () => {
    const gate = await openGate();
    const held = await gate.propose(removal);
    expect(held).toMatchObject({ outcome: "held", refusal: { reason: "approval_required" } });
    expect(held.refusal?.resolution).toMatchObject({ approvalId: held.approvalId });
    const waiting = gate.awaitDecision(held.decisionId ?? "");
    const approved = await gate.approve(held.approvalId ?? "", { by: "ann" });
    expect(approved.outcome).toBe("allowed");
    expect(await waiting).toEqual(approved);
    expect(await gate.awaitDecision(held.decisionId ?? "")).toEqual(approved);
    expect(await gate.propose(removal)).toEqual({ ...approved, repeated: true });
    expect(await codeOf(gate.approve(held.approvalId ?? "", { by: "ann" }))).toBe(
      "unknown_approval",
    );
  });

  test("allows as many further calls of its tool as the approval grants", async () => {
    const gate = await openGate();
    const next = (n: number) => gate.propose({ ...removal, callId: `r${n}`, arguments: { n } });
    const { approvalId = "" } = await next(1);
    const further = { calls: 2, untilMs: Date.now() + 60_000 };
    expect((await gate.approve(approvalId, { by: "ann", further })).outcome).toBe("allowed");
    const outcomes = [await next(2), await next(3), await next(4)].map(({ outcome }) => outcome);
    expect(outcomes).toEqual(["allowed", "allowed", "held"]);
    const last = await next(5);
    await gate.approve(last.approvalId ?? "", { by: "ann", further: { calls: "any" } });
    expect((await next(6)).outcome).toBe("allowed");
    expect((await next(7)).outcome).toBe("allowed");
  });

  test.each([
    { calls: 0 },
    { calls: 1.5 },
    { calls: 2 ** 31 },
    { untilMs: 1 },
    { untilMs: Number.NaN },
    { untilMs: 2 ** 52 },
  ])("is not approved with further calls of %j", async (further) => {
    const gate = await openGate();
    const { approvalId = "" } = await gate.propose(removal);
    expect(await codeOf(gate.approve(approvalId, { by: "ann", further }))).toBe("invalid_input");
    expect((await gate.approve(approvalId, { by: "ann" })).outcome).toBe("allowed");
  });

  test("is refused by a denial, with its reason", async () => {
    const gate = await openGate();
    const held = await gate.propose(removal);
    const denied = await gate.deny(held.approvalId ?? "", { by: "ann", reason: "not today" });
    expect(denied.refusal?.reason).toBe("approval_denied");
    expect(denied.refusal?.message).toContain("not today");
  });

  test("cannot be approved by the agent itself, by nobody, or without a required reason", async () => {
    const tiers = [{ name: "r", pattern: "delete_*", action: "hitl", require_reason: true }];
    const gate = await openGate({ policy: { authorization: { tiers } } });
    const { approvalId = "" } = await gate.propose({ ...removal, agentId: "agent-1" });
    expect(await codeOf(gate.approve(approvalId, { by: "agent-1", reason: "me" }))).toBe(
      "self_approval",
    );
    expect(await codeOf(gate.approve(approvalId, { by: "ann" }))).toBe("reason_required");
    expect(await codeOf(gate.approve(approvalId, { by: "" }))).toBe("invalid_input");
    expect(await codeOf(gate.approve("no such hold", { by: "ann" }))).toBe("unknown_approval");
  });

  test("expires as a refusal without any request", async () => {
    const tiers = [{ name: "r", pattern: "delete_*", action: "hitl", expires_ms: 1_000 }];
    const gate = await openGate({ policy: { authorization: { tiers } } });
    const held = await gate.propose(removal);
    const expired = await gate.awaitDecision(held.decisionId ?? "");
    expect(expired.refusal?.reason).toBe("approval_expired");
  });

  test("is awaited only as long as the caller says", async () => {
    const gate = await openGate();
    const { decisionId = "" } = await gate.propose(removal);
    expect(await codeOf(gate.awaitDecision(decisionId, { timeoutMs: 1 }))).toBe("timeout");
    const controller = new AbortController();
    const waiting = gate.awaitDecision(decisionId, { signal: controller.signal });
    controller.abort(new Error("enough"));
    await expect(waiting).rejects.toThrow("enough");
    expect(await codeOf(gate.awaitDecision("no such decision"))).toBe("unknown_decision");
    const never = gate.awaitResult(decisionId, { timeoutMs: Number.NaN });
    expect(await codeOf(never)).toBe("invalid_input");
  });
});

describe("a gate", () => {
  test("refuses everything after closing and says so", async () => {
    const gate = await openGate();
    const held = await gate.propose({ ...CALL, tool: "delete_order" });
    const waiting = codeOf(gate.awaitDecision(held.decisionId ?? ""));
    await gate.close();
    await gate.close();
    expect(await waiting).toBe("closed");
    const refused = await gate.propose(CALL);
    expect(refused).toMatchObject({
      outcome: "refused",
      refusal: { reason: "gate_unavailable", detail: "closed", retryable: true },
    });
    expect(refused).not.toHaveProperty("decisionId");
    expect(await codeOf(gate.report("x", { status: "succeeded" }))).toBe("closed");
  });

  test("answers what was asked before it was closed", async () => {
    const gate = await openGate();
    const asked = gate.propose(CALL);
    await gate.close();
    expect((await asked).outcome).toBe("allowed");
  });

  test("does not open on an invalid policy, and lists all problems", async () => {
    const policy = {
      budgets: { max_step: 3 },
      tool_schemas: { a: { input_schema: { type: 7 } }, b: { error_patterns: ["("] } },
    };
    const opened = openCallgate({ policy, dataDir: false });
    const error = await opened.catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "policy_invalid" });
    expect(String(error)).toContain("max_step");
    const rest = { ...policy, budgets: {} };
    const compiled = await openCallgate({ policy: rest, dataDir: false }).catch(
      (thrown: unknown) => thrown,
    );
    expect(compiled).toMatchObject({
      code: "policy_invalid",
      problems: [
        { path: "tool_schemas.a.input_schema" },
        { path: "tool_schemas.b.error_patterns[0]" },
      ],
    });
  });

  test("rejects a secret that is too short", async () => {
    const opened = openCallgate({ policy: SHOP_POLICY, dataDir: false, secret: "short" });
    expect(await codeOf(opened)).toBe("secret_unreadable");
  });

  test("derives the same keys from the same secret, and others from another", async () => {
    const keyWith = async (secret: string) =>
      (await (await openGate({ secret })).propose(CALL)).idempotencyKey;
    const one = await keyWith("a secret of enough length");
    expect(await keyWith("a secret of enough length")).toBe(one);
    expect(await keyWith("another secret of that length")).not.toBe(one);
  });
});
