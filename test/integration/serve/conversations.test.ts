import { expect, test } from "vitest";
import { type OpenServeApp, openServeApp } from "../../support/serve/open-serve-app.ts";

const POLICY = {
  authorization: {
    tiers: [{ name: "removals", pattern: "delete_*", action: "hitl", expires_ms: 60_000 }],
  },
  tool_schemas: { get_order: { read_only: true, reads: ["order/{id}"] }, send_email: {} },
};

async function propose(serve: OpenServeApp, callId: string, more: object = {}) {
  const call = { conversationId: "c-1", tool: "get_order", arguments: { id: callId }, callId };
  return (await serve.post("/v1/proposals", { ...call, ...more })).body;
}

test("recent conversations are listed with counts, the latest activity first", async () => {
  const serve = await openServeApp(POLICY);
  expect((await serve.get("/v1/conversations")).body).toEqual({
    ...{ conversations: [], nextCursor: null, since: null },
  });
  const { decisionId } = await propose(serve, "a");
  await serve.post(`/v1/decisions/${decisionId}/result`, { status: "succeeded" });
  await propose(serve, "a", { conversationId: "c-2" });
  const held = await propose(serve, "b", { tool: "delete_order" });
  const counts = async () => {
    const { body } = await serve.get("/v1/conversations?tenantId=default");
    return body.conversations;
  };
  expect(await counts()).toMatchObject([
    {
      ...{ tenantId: "default", conversationId: "c-1", ended: false },
      calls: { allowed: 1, refused: 0, held: 1 },
      results: { succeeded: 1, failed: 0, not_executed: 0, unknown: 0 },
    },
    { conversationId: "c-2", calls: { allowed: 1, refused: 0, held: 0 } },
  ]);
  await serve.post(`/v1/approvals/${held.approvalId}/deny`, {});
  await serve.post("/v1/conversations/c-1/end", {});
  expect((await counts())[0]).toMatchObject({
    ended: true,
    calls: { allowed: 1, refused: 1, held: 0 },
  });
  expect((await serve.get("/v1/conversations?tenantId=other")).body.conversations).toEqual([]);
});

test("a result that is settled later is counted once", async () => {
  const serve = await openServeApp(POLICY);
  const { decisionId } = await propose(serve, "a", { tool: "send_email" });
  await serve.post(`/v1/decisions/${decisionId}/result`, { status: "unknown" });
  await serve.post(`/v1/decisions/${decisionId}/result`, { status: "succeeded" });
  const { body } = await serve.get("/v1/conversations");
  expect(body.conversations[0].results).toMatchObject({ succeeded: 1, unknown: 0 });
});

test("pages of conversations follow each other without gaps or repeats", async () => {
  const serve = await openServeApp(POLICY);
  const ids = ["c-1", "c-2", "c-3", "c-4", "c-5"];
  for (const conversationId of ids) await propose(serve, "a", { conversationId });
  const listed: string[] = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const after: string = cursor === "" ? "" : `&cursor=${cursor}`;
    const { body } = await serve.get(`/v1/conversations?limit=2${after}`);
    for (const one of body.conversations) listed.push(one.conversationId);
    cursor = body.nextCursor;
  }
  expect(listed).toHaveLength(5);
  expect(new Set(listed)).toEqual(new Set(ids));
  expect(await serve.get("/v1/conversations?cursor=x")).toMatchObject({ status: 400 });
});

test("a timeline has the calls with all their decisions and results, and the orders", async () => {
  const serve = await openServeApp(POLICY);
  const first = await propose(serve, "a");
  const report = { status: "failed", effect: "none", error: { message: "no such order" } };
  await serve.post(`/v1/decisions/${first.decisionId}/result`, report);
  await propose(serve, "x", { conversationId: "c-2" });
  const held = await propose(serve, "b", { tool: "delete_order" });
  await serve.post(`/v1/approvals/${held.approvalId}/approve`, { reason: "fine" });
  await serve.post("/v1/conversations/c-1/end", { reason: "done" });
  const { body } = await serve.get("/v1/conversations/c-1");
  expect(body).toMatchObject({
    ...{ tenantId: "default", conversationId: "c-1", ended: true, complete: true },
    calls: [
      {
        ...{ callId: "a", outcome: "allowed", decisions: [{ type: "allowed" }] },
        result: { status: "failed", error: { message: "no such order" } },
      },
      {
        ...{ callId: "b", outcome: "allowed", result: null },
        decisions: [{ type: "held" }, { type: "allowed", approvedBy: ["tester"] }],
      },
    ],
    orders: [{ type: "conversation_ended", by: "tester", reason: "done" }],
  });
  expect(JSON.stringify(body)).not.toMatch(/idempotency/i);
  const { body: last } = await serve.get("/v1/conversations/c-1?limit=1");
  expect(last).toMatchObject({ complete: false, calls: [{ callId: "b" }] });
});

test("conversations of other tenants, and those that do not exist, are not shown", async () => {
  const serve = await openServeApp(POLICY);
  await propose(serve, "a", { tenantId: "other" });
  const token = serve.token({ roles: ["read"], tenantId: "default" });
  expect((await serve.get("/v1/conversations", token)).body.conversations).toEqual([]);
  for (const path of ["c-1?tenantId=other", "c-1", "c-9"]) {
    expect(await serve.get(`/v1/conversations/${path}`, token)).toMatchObject({
      status: 404,
      body: { code: "unknown_conversation" },
    });
  }
  expect(await serve.get("/v1/conversations/c-1?tenantId=other")).toMatchObject({ status: 200 });
});
