import { expect, test } from "vitest";
import { type OpenServeApp, openServeApp } from "../../support/serve/open-serve-app.ts";

const POLICY = {
  authorization: {
    tiers: [
      { name: "removals", pattern: "delete_*", action: "hitl", approvals: 2 },
      { name: "kept", pattern: "drop_*", action: "deny" },
    ],
  },
  tool_schemas: {
    get_order: { read_only: true, reads: ["order/{id}"] },
    charge_card: { effects: [{ resource: "order/{id}", kind: "charge", exclusive: true }] },
    send_email: { sensitive: ["to"] },
  },
};

async function propose(serve: OpenServeApp, callId: string, more: object = {}) {
  return (await serve.post("/v1/proposals", callOf(callId, more))).body;
}

function callOf(callId: string, more: object = {}) {
  const call = { conversationId: "c-1", tool: "charge_card", arguments: { id: "7" }, callId };
  return { ...call, ...more };
}

test("a refusal is explained with its rule, its line, and the earlier call", async () => {
  const serve = await openServeApp(POLICY);
  const first = await propose(serve, "a");
  const { decisionId } = await propose(serve, "b");
  const { status, body } = await serve.post("/v1/explain", { decisionId });
  expect(status).toBe(200);
  expect(body).toMatchObject({
    ...{ decisionId, grantedBy: null, result: null },
    decisions: [
      {
        decision: { type: "refused", callId: "b", reason: "duplicate_in_flight" },
        position: { partition: 0, offset: expect.any(Number), seq: expect.any(Number) },
        ...{ verdicts: [], isPolicyOfDecision: true, attempt: null },
        refusal: { previousCall: { decisionId: first.decisionId }, cause: expect.any(String) },
      },
    ],
  });
});

test("a call that waited is explained with both approvals, and its result", async () => {
  const serve = await openServeApp(POLICY);
  const held = await propose(serve, "a", { tool: "delete_order" });
  for (const name of ["ann", "bob"]) {
    const token = serve.token({ name });
    await serve.post(`/v1/approvals/${held.approvalId}/approve`, { reason: "ok" }, token);
  }
  const { decisionId } = held;
  await serve.post(`/v1/decisions/${decisionId}/result`, { status: "succeeded" });
  const { body } = await serve.post("/v1/explain", { decisionId });
  expect(body.decisions).toMatchObject([
    { decision: { type: "held" }, location: expect.stringMatching(/policy\.yaml:\d+:\d+$/) },
    {
      ...{ decision: { type: "allowed" }, attempt: 1, location: null, rule: null },
      verdicts: [{ kind: "approve", by: "ann", reason: "ok" }, { by: "bob" }],
    },
  ]);
  expect(body.result).toMatchObject({ status: "succeeded" });
});

test("a decision of another tenant, or none, is not explained", async () => {
  const serve = await openServeApp(POLICY);
  const { decisionId } = await propose(serve, "a", { tenantId: "other" });
  const token = serve.token({ roles: ["read"], tenantId: "default" });
  for (const id of [decisionId, "0".repeat(32)]) {
    const answer = await serve.post("/v1/explain", { decisionId: id }, token);
    expect(answer).toMatchObject({ status: 404, body: { code: "unknown_decision" } });
  }
});

test("a simulated call is decided on the present state, and changes nothing", async () => {
  const serve = await openServeApp(POLICY);
  await propose(serve, "a");
  const { link } = serve.kit.served;
  const end = await link.log.endOffset("decisions", 0);
  const inputs = await link.log.endOffset("proposals", 0);
  const present = await serve.post("/v1/simulate", callOf("b"));
  expect(present).toMatchObject({
    status: 200,
    body: {
      decision: { outcome: "refused", refusal: { reason: "duplicate_in_flight" } },
      hasState: true,
    },
  });
  const empty = await serve.post("/v1/simulate", callOf("b", { state: "empty" }));
  expect(empty.body).toMatchObject({ decision: { outcome: "allowed" }, hasState: false });
  expect(empty.body.decision.idempotencyKey).toBeUndefined();
  const again = await serve.post("/v1/simulate", callOf("a"));
  expect(again.body.decision).toMatchObject({ outcome: "allowed", repeated: true });
  expect(await link.log.endOffset("decisions", 0)).toBe(end);
  expect(await link.log.endOffset("proposals", 0)).toBe(inputs);
  // What the simulation said comes true.
  expect(await propose(serve, "b")).toMatchObject({
    refusal: { reason: "duplicate_in_flight" },
  });
});

test("a simulation says which rule decides, and shows no sensitive value", async () => {
  const serve = await openServeApp(POLICY);
  const denied = await serve.post("/v1/simulate", callOf("a", { tool: "drop_table" }));
  expect(denied.body).toMatchObject({
    decision: { outcome: "refused" },
    tier: "kept",
    location: expect.stringMatching(/policy\.yaml:\d+:\d+$/),
  });
  const call = { tool: "send_email", arguments: { to: "ann@example.com" } };
  const { body } = await serve.post("/v1/simulate", callOf("b", call));
  expect(body.decision.outcome).toBe("allowed");
  expect(JSON.stringify(body)).not.toContain("ann@example");
});

test("an agent's token cannot simulate, and a reader only in its tenant", async () => {
  const serve = await openServeApp(POLICY);
  const agent = serve.token({ roles: ["propose"] });
  expect(await serve.post("/v1/simulate", callOf("a"), agent)).toMatchObject({ status: 403 });
  const reader = serve.token({ roles: ["read"], tenantId: "default" });
  const other = callOf("a", { tenantId: "other" });
  expect(await serve.post("/v1/simulate", other, reader)).toMatchObject({ status: 404 });
  expect(await serve.post("/v1/simulate", callOf("a"), reader)).toMatchObject({ status: 200 });
});

test("without a policy a call cannot be simulated, and a rule has no line", async () => {
  const serve = await openServeApp(POLICY);
  const { decisionId } = await propose(serve, "a", { tool: "drop_table" });
  Object.assign(serve.kit.served, { policy: undefined });
  expect(await serve.post("/v1/simulate", callOf("b"))).toMatchObject({
    status: 422,
    body: { code: "no_policy" },
  });
  const { body } = await serve.post("/v1/explain", { decisionId });
  expect(body.decisions).toMatchObject([{ location: null, isPolicyOfDecision: false }]);
});
