import { expect, onTestFinished, test } from "vitest";
import { CallgateError } from "../../../services/client/api/callgate-error.ts";
import { Executions } from "../../../services/serve/executions/executions.ts";
import { JournalTail } from "../../../services/serve/journal/journal-tail.ts";
import { type OpenServeApp, openServeApp } from "../../support/serve/open-serve-app.ts";

const POLICY = {
  tool_schemas: {
    get_order: { read_only: true },
    send_email: { effects: [{ resource: "mail/{to}", kind: "send" }] },
    charge_card: { effects: [{ resource: "order/{order}", kind: "charge" }] },
  },
};

async function propose(serve: OpenServeApp, callId: string, more: object = {}): Promise<string> {
  const call = { conversationId: "c-1", tool: "send_email", arguments: { to: callId }, callId };
  const { body } = await serve.post("/v1/proposals", { ...call, ...more });
  expect(body).toMatchObject({ outcome: "allowed" });
  return body.decisionId;
}

const WORKER = { worker: "w-1", tools: ["send_email"] };

async function claim(serve: OpenServeApp, more: object = {}, token?: string) {
  const { status, body } = await serve.post("/v1/executions", { ...WORKER, ...more }, token);
  expect(status).toBe(200);
  return body.executions;
}

test("a worker gets an allowed call with its arguments and key, and reports it", async () => {
  const serve = await openServeApp(POLICY);
  const decisionId = await propose(serve, "a");
  const [execution] = await claim(serve);
  expect(execution).toMatchObject({
    ...{ decisionId, callId: "a", conversationId: "c-1", tenantId: "default" },
    ...{ tool: "send_email", isRead: false, arguments: { to: "a" } },
    idempotencyKey: expect.stringMatching(/./),
    leaseExpiresAt: expect.any(Number),
  });
  const path = `/v1/executions/${execution.executionId}/result`;
  const report = { status: "succeeded", output: { sent: true } };
  const recorded = { status: 200, body: { recorded: true, status: "succeeded" } };
  expect(await serve.post(path, report)).toMatchObject(recorded);
  expect(await serve.post(path, report)).toMatchObject(recorded);
  expect((await serve.get(`/v1/results/${decisionId}`)).body).toMatchObject({
    status: "succeeded",
    output: { sent: true },
  });
  expect(await claim(serve)).toEqual([]);
});

test("the start of a claimed call is in the journal under the worker's name", async () => {
  const serve = await openServeApp(POLICY);
  const decisionId = await propose(serve, "a");
  await claim(serve);
  const { client } = serve.kit.served;
  const start = await client.reader.startOf(decisionId, client.timeFor(decisionId));
  expect(start?.by).toMatch(/^worker:[0-9a-f]{24}::60:w-1$/);
});

test("a call has one winner among workers and servers", async () => {
  const serve = await openServeApp(POLICY);
  const other = serve.again();
  const servers = [serve, other, serve, other, serve, other];
  for (const callId of ["a", "b", "c", "d", "e"]) {
    await propose(serve, callId, { conversationId: callId });
  }
  const claimed = await Promise.all(servers.map((one) => claim(one, { max: 5 })));
  const ids = claimed.flat().map(({ callId }: { callId: string }) => callId);
  expect(ids.sort()).toEqual(["a", "b", "c", "d", "e"]);
});

test("a worker waits for a call, and is answered when one is allowed", async () => {
  const serve = await openServeApp(POLICY);
  const waiting = claim(serve, { wait: 60 });
  await propose(serve, "a");
  expect(await waiting).toHaveLength(1);
});

test("the end of the server answers a worker that waits", async () => {
  const serve = await openServeApp(POLICY);
  const waiting = claim(serve, { wait: 60 });
  await claim(serve);
  serve.kit.end();
  expect(await waiting).toEqual([]);
});

test("a worker gets no call of tools and tenants that are not its own", async () => {
  const serve = await openServeApp(POLICY);
  await propose(serve, "a", { tool: "charge_card", arguments: { order: 1 } });
  await propose(serve, "b", { tenantId: "other" });
  const token = serve.token({ tenantId: "default" });
  expect(await claim(serve, { max: 10 }, token)).toEqual([]);
  expect(await claim(serve, { max: 10 })).toHaveLength(1);
  const held = await serve.post("/v1/executions", WORKER, serve.token({ roles: ["propose"] }));
  expect(held).toMatchObject({ status: 403, body: { code: "role_missing" } });
});

test("writes of a conversation run one after the other, those of one step together", async () => {
  const serve = await openServeApp(POLICY);
  await propose(serve, "a", { step: "1" });
  await propose(serve, "b", { step: "1" });
  await propose(serve, "c", { step: "2" });
  const first = await claim(serve, { max: 10 });
  expect(first.map(({ callId }: { callId: string }) => callId)).toEqual(["a", "b"]);
  expect(await claim(serve, { max: 10 })).toEqual([]);
  for (const { executionId } of first) {
    await serve.post(`/v1/executions/${executionId}/result`, { status: "succeeded" });
  }
  expect(await claim(serve)).toMatchObject([{ callId: "c" }]);
});

test("a lease is renewed, and its end makes the outcome unknown", async () => {
  const serve = await openServeApp(POLICY);
  const decisionId = await propose(serve, "a");
  const [{ executionId, leaseExpiresAt }] = await claim(serve, { leaseSeconds: 1 });
  const path = `/v1/executions/${executionId}`;
  const renewed = await serve.post(`${path}/renew`, { leaseSeconds: 2 });
  expect(renewed).toMatchObject({ status: 200, body: { executionId } });
  expect(renewed.body.leaseExpiresAt).toBeGreaterThan(leaseExpiresAt);
  const wait = await serve.get(`/v1/results/${decisionId}?wait=30`);
  expect(wait.body).toMatchObject({ status: "unknown" });
  expect(await claim(serve)).toEqual([]);
  expect(await serve.post(`${path}/renew`, {})).toMatchObject({
    status: 409,
    body: { code: "lease_lost" },
  });
  const late = await serve.post(`${path}/result`, { status: "succeeded", output: "ok" });
  expect(late).toMatchObject({ status: 409, body: { code: "late_result_recorded" } });
  expect((await serve.get(`/v1/results/${decisionId}`)).body.status).toBe("succeeded");
});

test("a call that is given back goes to another worker, and the first one can no longer end it", async () => {
  const serve = await openServeApp(POLICY);
  await propose(serve, "a");
  const [first] = await claim(serve);
  const released = { status: 200, body: { executionId: first.executionId, released: true } };
  const path = `/v1/executions/${first.executionId}`;
  expect(await serve.post(`${path}/release`, {})).toMatchObject(released);
  expect(await serve.post(`${path}/release`, {})).toMatchObject(released);
  const [second] = await claim(serve.again(), { worker: "w-2" });
  expect(second).toMatchObject({ decisionId: first.decisionId, callId: "a" });
  expect(second.executionId).not.toBe(first.executionId);
  expect(second.idempotencyKey).toBe(first.idempotencyKey);
  for (const step of ["renew", "result"]) {
    const body = step === "result" ? { status: "succeeded" } : {};
    expect(await serve.post(`${path}/${step}`, body)).toMatchObject({
      status: 409,
      body: { code: "execution_released" },
    });
  }
  const end = { status: "succeeded" };
  expect(await serve.post(`/v1/executions/${second.executionId}/result`, end)).toMatchObject({
    status: 200,
  });
});

test("a server that is started again knows open calls and leases", async () => {
  const serve = await openServeApp(POLICY);
  await propose(serve, "a");
  await propose(serve, "b", { conversationId: "c-2" });
  const [held] = await claim(serve);
  serve.kit.end();
  const next = serve.again();
  const [other] = await claim(next, { max: 5 });
  expect([held.callId, other.callId].sort()).toEqual(["a", "b"]);
  expect(await next.post(`/v1/executions/${held.executionId}/renew`, {})).toMatchObject({
    status: 200,
  });
  const report = { status: "failed", effect: "none", error: { message: "no such mailbox" } };
  expect(await next.post(`/v1/executions/${held.executionId}/result`, report)).toMatchObject({
    status: 200,
    body: { recorded: true, status: "failed" },
  });
});

test("a server that is started again ends calls whose lease is over", async () => {
  const serve = await openServeApp(POLICY);
  const decisionId = await propose(serve, "a");
  await claim(serve, { leaseSeconds: 1 });
  serve.kit.end();
  const next = serve.again();
  expect(await claim(next)).toEqual([]);
  const wait = await next.get(`/v1/results/${decisionId}?wait=30`);
  expect(wait.body).toMatchObject({ status: "unknown" });
});

test("a call that was started or ended elsewhere is not claimed", async () => {
  const serve = await openServeApp(POLICY);
  const started = await propose(serve, "a");
  const ended = await propose(serve, "b", { conversationId: "c-2" });
  await serve.post(`/v1/decisions/${started}/result`, { status: "started" });
  await serve.post(`/v1/decisions/${ended}/result`, { status: "succeeded" });
  expect(await claim(serve, { max: 5 })).toEqual([]);
});

test("unknown executions, and bodies that are wrong, are refused with what to do", async () => {
  const serve = await openServeApp(POLICY);
  const decisionId = await propose(serve, "a");
  for (const id of [
    "x",
    `${decisionId}.${"0".repeat(24)}`,
    `${"0".repeat(32)}.${"0".repeat(24)}`,
  ]) {
    expect(await serve.post(`/v1/executions/${id}/renew`, {})).toMatchObject({
      status: 404,
      body: { code: "unknown_execution" },
    });
  }
  for (const body of [{ tools: ["t"] }, { worker: "", tools: ["t"] }, { worker: "w", tools: [] }]) {
    expect(await serve.post("/v1/executions", body)).toMatchObject({ status: 400 });
  }
  const [{ executionId }] = await claim(serve);
  const start = { status: "started" };
  expect(await serve.post(`/v1/executions/${executionId}/result`, start)).toMatchObject({
    status: 400,
  });
});

test("a claim that got no answer is given back, and the next worker gets the call", async () => {
  const serve = await openServeApp(POLICY);
  await propose(serve, "a");
  const { client } = serve.kit.served;
  const claimOnce = client.claim.bind(client);
  // The claim is in the journal, and its answer is lost.
  client.claim = async (...args) => {
    client.claim = claimOnce;
    await claimOnce(...args);
    throw new CallgateError("timeout", "no answer");
  };
  expect(await serve.post("/v1/executions", WORKER)).toMatchObject({ status: 503 });
  expect(await claim(serve, { worker: "w-2", wait: 30 })).toMatchObject([{ callId: "a" }]);
});

test("the time limit of a call ends its lease, however often it is renewed", async () => {
  const limited = { ...POLICY.tool_schemas.send_email, time_limit_ms: 1_000 };
  const serve = await openServeApp({ tool_schemas: { send_email: limited } });
  await propose(serve, "a");
  const [{ executionId, leaseExpiresAt }] = await claim(serve, { leaseSeconds: 3_600 });
  expect(leaseExpiresAt - Date.now()).toBeLessThan(10_000);
  const { body } = await serve.post(`/v1/executions/${executionId}/renew`, {});
  expect(body.leaseExpiresAt).toBe(leaseExpiresAt);
});

test("a call that is given back and not claimed in time is not executed", async () => {
  const late = { ...POLICY.tool_schemas.send_email, start_within_ms: 1_000 };
  const serve = await openServeApp({ tool_schemas: { send_email: late } });
  const decisionId = await propose(serve, "a");
  const [{ executionId }] = await claim(serve);
  await serve.post(`/v1/executions/${executionId}/release`, {});
  const { body } = await serve.get(`/v1/results/${decisionId}?wait=30`);
  expect(body).toMatchObject({ status: "not_executed", error: null });
  expect(await claim(serve)).toEqual([]);
});

test("calls beyond the bound of the queue are handed out when there is room", async () => {
  const serve = await openServeApp(POLICY);
  const { served } = serve.kit;
  const ending = new AbortController();
  onTestFinished(() => ending.abort());
  const tail = new JournalTail(served.link);
  const executions = new Executions({ served, tail, ending: ending.signal, openMax: 4 });
  const names = Array.from({ length: 10 }, (_, at) => `c${at}`);
  for (const name of names) await propose(serve, name, { conversationId: name });
  const anybody = {
    ...{ name: "w", roles: new Set(["execute"] as const), tenantId: null, agentId: null },
    ...{ conversationId: null, platform: false, tokenId: null },
  };
  const request = { ...WORKER, max: 1, wait: 30, leaseSeconds: 60 };
  const claimed: string[] = [];
  while (claimed.length < names.length) {
    const [one] = await executions.claim(anybody, request, ending.signal);
    if (one === undefined) break;
    claimed.push(one.callId);
    await served.client.report(one.decisionId, { status: "succeeded" });
  }
  expect(claimed.toSorted()).toEqual(names);
});
