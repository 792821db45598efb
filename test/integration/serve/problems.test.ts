// Bad requests get problems that say what, where and what to do.
import { expect, test } from "vitest";
import { openServeKit, POLICY } from "../../support/serve/serve-kit.ts";

const CALL = { conversationId: "c", tool: "charge_card", arguments: {} };

test.each([
  ["no JSON", "{", 400, "invalid_json"],
  ["a member twice", '{"tool":"a","tool":"b"}', 400, "invalid_json"],
  [
    "a number that a double cannot hold",
    '{"conversationId":"c","tool":"t","arguments":{"n":1e999}}',
    400,
    "invalid_json",
  ],
  ["a list", "[]", 400, "invalid_input"],
  ["an unknown member", { ...CALL, extra: 1 }, 400, "invalid_input"],
  ["a missing member", { tool: "t", arguments: {} }, 400, "invalid_input"],
  ["arguments that are a list", { ...CALL, arguments: [] }, 400, "invalid_input"],
  ["a body of 2 MiB", "x".repeat(2 ** 21), 413, "body_too_large"],
] as const)("%s", async (_what, body, status, code) => {
  const { post } = await openServeKit(POLICY);
  const answer = await post("/v1/proposals", { body, headers: { "x-request-id": "r-1" } });
  expect(answer).toMatchObject({ status, body: { code, status, requestId: "r-1" } });
  expect(answer.headers.get("content-type")).toBe("application/problem+json");
  expect(answer.headers.get("x-request-id")).toBe("r-1");
  expect(answer.body.detail).not.toBe("");
  expect(answer.body.remedy).not.toBe("");
});

test("a body that is not JSON by its own word", async () => {
  const { post } = await openServeKit(POLICY);
  const headers = { "content-type": "text/plain" };
  const answer = await post("/v1/proposals", { body: JSON.stringify(CALL), headers });
  expect(answer).toMatchObject({ status: 415, body: { at: "Content-Type" } });
});

test("ids that nothing has", async () => {
  const { get, post, token } = await openServeKit(POLICY);
  const id = "0".repeat(32);
  expect(await get(`/v1/decisions/${id}`)).toMatchObject({ body: { code: "unknown_decision" } });
  expect(await get(`/v1/results/${id}`)).toMatchObject({ status: 404 });
  const approver = { token: token({ roles: ["approve"] }) };
  const answer = await post(`/v1/approvals/${id}/deny`, approver);
  expect(answer).toMatchObject({ status: 404, body: { code: "unknown_approval" } });
  expect(await get("/v2")).toMatchObject({ status: 404, body: { code: "unknown_path" } });
});

test("a held call that was answered: 409, and who answered", async () => {
  const { get, post, token } = await openServeKit(POLICY);
  const body = { conversationId: "c", tool: "delete_file", arguments: { path: "/a" } };
  const { approvalId } = (await post("/v1/proposals", { body })).body;
  const approver = { token: token({ roles: ["approve"], name: "bob" }) };
  const waiting = await get(`/v1/approvals/${approvalId}`, approver);
  expect(waiting.body).toMatchObject({ state: "waiting", decision: null, tool: "delete_file" });
  await post(`/v1/approvals/${approvalId}/deny`, { ...approver, body: { reason: "not now" } });
  const again = await post(`/v1/approvals/${approvalId}/approve`, approver);
  expect(again).toMatchObject({ status: 409, body: { code: "already_decided" } });
  const shown = await get(`/v1/approvals/${approvalId}`, approver);
  expect(shown.body).toMatchObject({ state: "refused", decision: { outcome: "refused" } });
});

test("a gate that cannot decide: 503, and the call id to try again with", async () => {
  const { post, served } = await openServeKit(POLICY);
  served.client.refuseNew();
  const answer = await post("/v1/proposals", { body: { ...CALL, callId: "a" } });
  expect(answer).toMatchObject({ status: 503, body: { code: "gate_unavailable" } });
  expect(answer.body.remedy).toContain("`a`");
  expect(answer.headers.get("retry-after")).toBe("1");
});
