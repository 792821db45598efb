// Proposals, decisions and results over HTTP, on a real gate.
import { expect, test } from "vitest";
import { openServeKit, POLICY } from "../../support/serve/serve-kit.ts";

const CHARGE = { conversationId: "c", tool: "charge_card", arguments: { order_id: "7" } };

test("answers allowed and refused calls with 200, and the same call id with the same decision", async () => {
  const { post } = await openServeKit(POLICY);
  const first = await post("/v1/proposals", { body: { ...CHARGE, callId: "a" } });
  expect(first).toMatchObject({ status: 200, body: { outcome: "allowed", repeated: false } });
  expect(first.body.idempotencyKey).toEqual(expect.any(String));
  const again = await post("/v1/proposals", { body: { ...CHARGE, callId: "a" } });
  expect(again.body).toEqual({ ...first.body, repeated: true });
  const other = await post("/v1/proposals", { body: { ...CHARGE, callId: "b" } });
  expect(other).toMatchObject({
    status: 200,
    body: { outcome: "refused", refusal: { reason: "duplicate_in_flight" } },
  });
});

test("takes the call id from Idempotency-Key, and refuses two different ones", async () => {
  const { post } = await openServeKit(POLICY);
  const headers = { "idempotency-key": "a" };
  expect((await post("/v1/proposals", { body: CHARGE, headers })).body.callId).toBe("a");
  const both = await post("/v1/proposals", { body: { ...CHARGE, callId: "b" }, headers });
  expect(both).toMatchObject({ status: 400, body: { at: "Idempotency-Key" } });
});

test("records a report once, and answers with the result", async () => {
  const { get, post } = await openServeKit(POLICY);
  const { decisionId } = (await post("/v1/proposals", { body: CHARGE })).body;
  const missing = await get(`/v1/results/${decisionId}`);
  expect(missing).toMatchObject({ status: 404, body: { code: "no_result" } });
  const waiting = get(`/v1/results/${decisionId}?wait=30`);
  const report = { status: "succeeded", output: { receipt: 9 } };
  const path = `/v1/decisions/${decisionId}/result`;
  expect((await post(path, { body: report })).body).toEqual({
    recorded: true,
    status: "succeeded",
  });
  expect((await waiting).body).toMatchObject({ status: "succeeded", output: { receipt: 9 } });
  expect((await post(path, { body: report })).body).toMatchObject({ why: "already_reported" });
});

test("a held call waits for its verdict, and answers who waits", async () => {
  const { get, post, token } = await openServeKit(POLICY);
  const body = { conversationId: "c", tool: "delete_file", arguments: { path: "/a" } };
  const held = await post("/v1/proposals", { body, headers: { prefer: "wait=0" } });
  expect(held).toMatchObject({ status: 200, body: { outcome: "held" } });
  const waiting = get(`/v1/decisions/${held.body.decisionId}?wait=60`);
  const approver = { token: token({ roles: ["approve"], name: "bob" }) };
  const path = `/v1/approvals/${held.body.approvalId}/approve`;
  expect(await post(path, approver)).toMatchObject({ status: 200, body: { outcome: "allowed" } });
  const allowed = await waiting;
  expect(allowed.body).toMatchObject({ outcome: "allowed", decisionId: held.body.decisionId });
  expect(allowed.body.idempotencyKey).toEqual(expect.any(String));
});

test("trace headers of the request are in the journal of the proposal", async () => {
  const { post, served } = await openServeKit(POLICY);
  const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  await post("/v1/proposals", { body: CHARGE, headers: { traceparent } });
  const { records } = await served.link.log.read("proposals", 0, 0, {
    ...{ recordsMax: 10, bytesMax: 100_000 },
  });
  expect(records[0]?.headers).toContainEqual({ name: "traceparent", value: traceparent });
});

test("one claim of a call is recorded, and the same name may claim it again", async () => {
  const { post } = await openServeKit(POLICY);
  const { decisionId } = (await post("/v1/proposals", { body: CHARGE })).body;
  const path = `/v1/decisions/${decisionId}/result`;
  const claim = (by: string) => post(path, { body: { status: "started", by } });
  expect((await claim("one")).body).toEqual({ recorded: true, status: "started" });
  expect((await claim("one")).body).toEqual({ recorded: true, status: "started" });
  expect((await claim("two")).body).toEqual({ recorded: false, why: "already_reported" });
  await post(path, { body: { status: "succeeded" } });
  expect((await claim("one")).body).toEqual({ recorded: false, why: "already_reported" });
});

test("a repeated read says that the earlier result answers it, unless its output is not whole", async () => {
  const { post } = await openServeKit(POLICY);
  for (const whole of [true, false]) {
    const read = {
      conversationId: `c-${whole}`,
      ...{ tool: "get_order", arguments: { order_id: "7" } },
    };
    const { decisionId } = (await post("/v1/proposals", { body: read })).body;
    const report = { status: "succeeded", output: { total: 3 }, whole, basis: "returned" };
    await post(`/v1/decisions/${decisionId}/result`, { body: report });
    const { body } = await post("/v1/proposals", { body: read });
    if (whole) {
      const previousResult = { ref: decisionId, inline: '{"total":3}' };
      expect(body).toMatchObject({ answered: true, refusal: { previousResult } });
    } else {
      expect(body.answered ?? false).toBe(false);
    }
  }
});
