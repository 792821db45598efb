// Who may do what over HTTP.
import { expect, test } from "vitest";
import { openServeKit, POLICY } from "../../support/serve/serve-kit.ts";

const CALL = { conversationId: "c", tool: "charge_card", arguments: { order_id: "7" } };
const HELD = { conversationId: "c", tool: "delete_file", arguments: { path: "/a" } };

test.each(["turn", "agentId", "tenantId", "confirmation", "estimatedCost"])(
  "refuses `%s` from anybody but a platform",
  async (word) => {
    const { post, token } = await openServeKit(POLICY);
    const value = word === "estimatedCost" ? { microUnits: 1, currency: "EUR" } : "x";
    const body = { ...CALL, [word]: value };
    const refused = { status: 403, body: { code: "platform_only", at: `body.${word}` } };
    expect(await post("/v1/proposals", { body })).toMatchObject(refused);
    const agent = token({ roles: ["propose"], agentId: "planner" });
    expect(await post("/v1/proposals", { body, token: agent })).toMatchObject(refused);
  },
);

test("a platform's token states them, within its tenant", async () => {
  const { post, token } = await openServeKit(POLICY);
  const platform = token({ roles: ["propose"], platform: true, tenantId: "shop" });
  const body = { ...CALL, turn: 1, agentId: "planner", tenantId: "shop" };
  expect(await post("/v1/proposals", { body, token: platform })).toMatchObject({ status: 200 });
  const foreign = { ...body, tenantId: "other" };
  expect(await post("/v1/proposals", { body: foreign, token: platform })).toMatchObject({
    status: 403,
    body: { code: "other_subject" },
  });
});

test("what belongs to another tenant does not exist", async () => {
  const { get, post, token } = await openServeKit(POLICY);
  const mine = { token: token({ roles: ["propose", "read", "execute"], tenantId: "mine" }) };
  const all = token({ roles: ["read", "propose", "approve", "execute"], tenantId: "other" });
  const { decisionId } = (await post("/v1/proposals", { ...mine, body: CALL })).body;
  const { approvalId } = (await post("/v1/proposals", { ...mine, body: HELD })).body;
  const other = { token: all };
  const report = { ...other, body: { status: "succeeded" } };
  for (const answer of [
    await get(`/v1/decisions/${decisionId}`, other),
    await get(`/v1/results/${decisionId}`, other),
    await post(`/v1/decisions/${decisionId}/result`, report),
    await get(`/v1/approvals/${approvalId}`, other),
    await post(`/v1/approvals/${approvalId}/approve`, other),
    await post("/v1/conversations/c/end?tenantId=mine", other),
  ]) {
    expect(answer.status).toBe(404);
  }
  expect((await get("/v1/approvals", other)).body.approvals).toEqual([]);
  expect(
    (await get("/v1/approvals", { token: token({ roles: ["admin"], tenantId: null }) })).body
      .approvals,
  ).toHaveLength(1);
});

test("nobody answers held calls with a role that does not allow it", async () => {
  const { post, token } = await openServeKit(POLICY);
  const { approvalId } = (await post("/v1/proposals", { body: HELD })).body;
  const path = `/v1/approvals/${approvalId}/approve`;
  expect(await post(path)).toMatchObject({ status: 401, body: { code: "token_required" } });
  for (const role of ["propose", "execute", "read"] as const) {
    const answer = await post(path, { token: token({ roles: [role] }) });
    expect(answer).toMatchObject({ status: 403, body: { code: "role_missing" } });
  }
});

test("a token of the agent that proposed a call cannot answer it, whatever its roles", async () => {
  const { post, token } = await openServeKit(POLICY);
  // The command makes no such token; a file of another program might.
  const both = token({ roles: ["propose", "approve"], agentId: "Planner" });
  const { approvalId } = (await post("/v1/proposals", { token: both, body: HELD })).body;
  const answer = await post(`/v1/approvals/${approvalId}/approve`, { token: both });
  expect(answer).toMatchObject({ status: 403, body: { code: "self_approval" } });
});

test("pages of the web are refused without a token, under any name of the server", async () => {
  const { get, post } = await openServeKit(POLICY);
  const sent = { body: CALL };
  const page = { ...sent, headers: { origin: "https://evil.example" } };
  expect(await post("/v1/proposals", page)).toMatchObject({ body: { code: "origin_refused" } });
  const rebound = { ...sent, headers: { host: "evil.example:8181" } };
  expect(await post("/v1/proposals", rebound)).toMatchObject({ body: { code: "host_refused" } });
  expect(await get("/v1/approvals", { headers: { host: "[::1]:8181" } })).toMatchObject({
    status: 200,
  });
});

test("an address that others reach needs a token for every request", async () => {
  const { get, post, token } = await openServeKit(POLICY, { isOpen: false });
  expect(await post("/v1/proposals", { body: CALL })).toMatchObject({ status: 401 });
  const wrong = await get("/v1/approvals", { token: "cg_0123456789abcdef_x" });
  expect(wrong).toMatchObject({ status: 401, body: { code: "token_invalid" } });
  expect(wrong.headers.get("www-authenticate")).toBe("Bearer");
  const own = token({ roles: ["propose"] });
  expect(await post("/v1/proposals", { token: own, body: CALL })).toMatchObject({ status: 200 });
  expect(await get("/healthz")).toMatchObject({ status: 200 });
});

test("who only reads or approves gets neither keys nor sensitive arguments", async () => {
  const { get, post, token } = await openServeKit(POLICY);
  const body = { conversationId: "c", tool: "delete_account", arguments: { ssn: "123-45-6789" } };
  const { approvalId, decisionId } = (await post("/v1/proposals", { body })).body;
  const approver = { token: token({ roles: ["approve", "read"] }) };
  const shown = await get(`/v1/approvals/${approvalId}`, approver);
  const approved = await post(`/v1/approvals/${approvalId}/approve`, approver);
  const read = await get(`/v1/decisions/${decisionId}`, approver);
  expect(approved.body.outcome).toBe("allowed");
  for (const answer of [shown, approved, read]) {
    expect(JSON.stringify(answer.body)).not.toContain("123-45-6789");
    expect(answer.body.idempotencyKey).toBeUndefined();
  }
  expect((await get(`/v1/decisions/${decisionId}`)).body.arguments).toEqual({ ssn: "123-45-6789" });
});

test("a token has its own limit of requests", async () => {
  const { get, token } = await openServeKit(POLICY, { perSecond: 2 });
  const one = { token: token({ roles: ["read"] }) };
  const statuses = [];
  for (let count = 0; count < 3; count += 1)
    statuses.push((await get("/v1/approvals", one)).status);
  expect(statuses).toEqual([200, 200, 429]);
  const other = await get("/v1/approvals", { token: token({ roles: ["read"] }) });
  expect(other.status).toBe(200);
  expect((await get("/v1/approvals", one)).headers.get("retry-after")).toBe("1");
});

test("pages of a configured origin use the server with a token", async () => {
  const origin = "https://console.example";
  const { get, token } = await openServeKit(POLICY, { corsOrigins: [origin] });
  const answer = await get("/v1/approvals", {
    ...{ token: token({ roles: ["read"] }), headers: { origin } },
  });
  expect(answer.status).toBe(200);
  expect(answer.headers.get("access-control-allow-origin")).toBe(origin);
});
