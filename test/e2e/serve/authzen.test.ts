// `callgate serve` answers the Authorization API 1.0 (AuthZEN) and its Access Request and Approval Profile.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  ALICE_READS,
  BATCHES,
  EVALUATIONS,
  MALFORMED,
} from "../../support/serve/authzen-scenario.ts";
import { type SendOptions, ServeProcess } from "../../support/serve/serve-process.ts";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const POLICY = readFileSync(join(ROOT, "test/fixtures/serve/authzen.yaml"), "utf8");
const EVALUATION = "/access/v1/evaluation";
const EVALUATIONS_PATH = "/access/v1/evaluations";
const REQUESTS = "/access/v1/requests";

let server: ServeProcess;
/** Of an enforcement point. */
let token = "";
let approver = "";

beforeAll(async () => {
  server = await ServeProcess.start({ policy: POLICY });
  token = server.token(["propose"], { name: "gateway", platform: true });
  approver = server.token(["approve"], { name: "ann" });
});
afterAll(() => server.end());

const post = (path: string, body: unknown, options: SendOptions = {}) =>
  server.send("POST", path, { token, body, ...options });

describe("certification scenario, Basic", () => {
  test.each(EVALUATIONS)("%s", async (_id, request, decision) => {
    const { status, headers, body } = await post(EVALUATION, request);
    expect({ status, body }).toEqual({
      status: 200,
      body: { decision, context: expect.any(Object) },
    });
    expect(headers.get("content-type")).toMatch(/^application\/json\b/);
  });

  test.each(MALFORMED)("%s", async (_id, request) => {
    expect(await post(EVALUATION, request)).toMatchObject({ status: 400 });
  });

  test("c-2-4-3 to c-2-4-5: another content type, no JSON, no body", async () => {
    const typed = (type: string) => ({ headers: { "content-type": type } });
    const text = JSON.stringify(ALICE_READS);
    expect(await post(EVALUATION, text, typed("text/plain"))).toMatchObject({ status: 400 });
    expect(await post(EVALUATION, '{"subject":')).toMatchObject({ status: 400 });
    expect(await post(EVALUATION, undefined)).toMatchObject({ status: 400 });
  });

  test("c-2-5: the request id comes back", async () => {
    const headers = { "x-request-id": "bfe9eb29-ab87" };
    const answer = await post(EVALUATION, ALICE_READS, { headers });
    expect(answer.headers.get("x-request-id")).toBe("bfe9eb29-ab87");
    expect((await post(EVALUATION, ALICE_READS)).status).toBe(200);
  });

  test("c-2-6: the same request again gets the same decision", async () => {
    for (const [, request, decision] of EVALUATIONS) {
      for (let nth = 0; nth < 3; nth += 1) {
        expect((await post(EVALUATION, request)).body.decision).toBe(decision);
      }
    }
  });
});

describe("certification scenario, Batch", () => {
  test.each(BATCHES)("%s", async (_id, request, decisions) => {
    const { status, body } = await post(EVALUATIONS_PATH, request);
    expect(status).toBe(200);
    expect(body.decision).toBeUndefined();
    expect(body.evaluations.map((one: { decision: boolean }) => one.decision)).toEqual(
      decisions.map((decision) => decision ?? expect.any(Boolean)),
    );
  });

  test("c-3-4-2, c-3-4-3: without evaluations it is one evaluation", async () => {
    for (const request of [ALICE_READS, { ...ALICE_READS, evaluations: [] }]) {
      expect(await post(EVALUATIONS_PATH, request)).toMatchObject({
        status: 200,
        body: { decision: true },
      });
    }
    expect(await post(EVALUATIONS_PATH, { evaluations: [] })).toMatchObject({ status: 400 });
  });

  test("refuses a batch that is too long", async () => {
    const evaluations = Array.from({ length: 101 }, () => ALICE_READS);
    expect(await post(EVALUATIONS_PATH, { evaluations })).toMatchObject({ status: 400 });
  });
});

describe("certification scenario, Discovery", () => {
  test("c-6: the metadata needs no token", async () => {
    const { status, headers, body } = await server.send(
      "GET",
      "/.well-known/authzen-configuration",
    );
    expect(status).toBe(200);
    expect(headers.get("content-type")).toMatch(/^application\/json\b/);
    expect(body).toEqual({
      policy_decision_point: server.url,
      access_evaluation_endpoint: `${server.url}${EVALUATION}`,
      access_evaluations_endpoint: `${server.url}${EVALUATIONS_PATH}`,
      access_request_endpoint: `${server.url}${REQUESTS}`,
      capabilities: ["urn:openid:authzen:capability:access-request"],
    });
  });
});

/** As an MCP gateway maps `tools/call` (COAZ). */
function toolCall(tool: string, args: object, context: object = {}) {
  return {
    subject: { type: "agent", id: "planner" },
    action: { name: "tools/call" },
    resource: { type: "tool", id: tool },
    context: { arguments: args, ...context },
  };
}

describe("a tool call", () => {
  test("is the native proposal of the same names", async () => {
    const names = { conversation_id: "native", call_id: "a", turn: "1" };
    const { body } = await post(EVALUATION, toolCall("get_order", { order_id: "7" }, names));
    const native = await post("/v1/proposals", {
      ...{ conversationId: "native", callId: "a", step: "a", turn: "1", agentId: "planner" },
      ...{ tool: "get_order", arguments: { order_id: "7" } },
    });
    expect(native.body).toMatchObject({ outcome: "allowed", repeated: true });
    expect(body).toMatchObject({
      decision: true,
      context: {
        evaluation_id: native.body.decisionId,
        idempotency_key: native.body.idempotencyKey,
        not_after: new Date(native.body.notAfter).toISOString(),
      },
    });
  });

  test("gets the recorded decision under the same request id, and another under another", async () => {
    const request = toolCall("get_order", { order_id: "8" }, { conversation_id: "ids" });
    const under = (id: string) => post(EVALUATION, request, { headers: { "x-request-id": id } });
    const [first, again, other] = [await under("r-1"), await under("r-1"), await under("r-2")];
    expect(first.body).toMatchObject({ decision: true, context: { repeated: false } });
    expect(again.body.context).toEqual({ ...first.body.context, repeated: true });
    // A second read of the same order is answered from memory, or allowed; it is a decision of its own.
    expect(other.body.context.evaluation_id).not.toBe(first.body.context.evaluation_id);
  });

  test("is refused where a call id comes with other arguments", async () => {
    const names = { conversation_id: "conflict", call_id: "a" };
    await post(EVALUATION, toolCall("get_order", { order_id: "1" }, names));
    const { body } = await post(EVALUATION, toolCall("get_order", { order_id: "2" }, names));
    expect(body).toMatchObject({ decision: false, context: { reason: "call_id_conflict" } });
  });

  test("of a subject that the credential does not vouch for is refused", async () => {
    const request = toolCall("get_order", {});
    const agent = server.token(["propose"], { agentId: "other" });
    const unbound = server.token(["propose"]);
    for (const one of [agent, unbound, undefined]) {
      expect(await post(EVALUATION, request, { token: one })).toMatchObject({ status: 403 });
    }
    const planner = server.token(["propose"], { agentId: "planner" });
    expect((await post(EVALUATION, request, { token: planner })).body.decision).toBe(true);
    const foreign = toolCall("get_order", {}, { tenant_id: "t-2" });
    expect(await post(EVALUATION, foreign, { token: planner })).toMatchObject({ status: 403 });
  });
});

describe("a held call", () => {
  const request = (id: string) => toolCall("delete_customer", { id }, { call_id: `call-${id}` });

  async function hold(id: string) {
    const { body } = await post(EVALUATION, request(id));
    expect(body).toMatchObject({
      decision: false,
      context: {
        reason: "approval_required",
        access_request: { endpoint: `${server.url}${REQUESTS}`, template: expect.any(String) },
      },
    });
    const { evaluation_id, access_request } = body.context;
    return { evaluation_id, expires_at: access_request.expires_at };
  }

  async function ask(id: string) {
    const denial = await hold(id);
    const answer = await post(REQUESTS, { ...request(id), denial });
    expect(answer.status).toBe(202);
    const { task } = answer.body;
    expect(task).toMatchObject({ status: "pending", expires_at: denial.expires_at });
    expect(answer.headers.get("location")).toBe(task.status_endpoint);
    const path = String(task.status_endpoint).slice(server.url.length);
    return { task, path, denial };
  }

  const read = async (path: string) => (await server.send("GET", path, { token })).body;
  const decide = (id: string, verdict: "approve" | "deny") =>
    post(`/v1/approvals/${id}/${verdict}`, {}, { token: approver });

  test("runs after a person has approved it, once", async () => {
    const { task, path } = await ask("approved");
    expect(await read(path)).toMatchObject({ task: { status: "pending" } });
    await decide(task.id, "approve");
    const { task: done, result } = await read(path);
    expect(done.status).toBe("approved");
    expect(result).toMatchObject({ mode: "reevaluate", approval: { id: task.id } });
    // The enforcement point does not know the call id any more: the approval is enough.
    const again = toolCall("delete_customer", { id: "approved" }, { approval: result.approval });
    const { body } = await post(EVALUATION, again);
    expect(body).toMatchObject({
      decision: true,
      context: {
        idempotency_key: expect.any(String),
        approval: { id: task.id, approved_until: result.approval.approved_until },
      },
    });
  });

  test("is not another call, whatever was approved", async () => {
    const { task } = await ask("scope");
    await decide(task.id, "approve");
    const approval = { id: task.id };
    const evaluated = async (changed: object) => (await post(EVALUATION, changed)).body;
    const same = { ...request("scope"), context: { ...request("scope").context, approval } };
    expect(
      await evaluated({ ...same, context: { ...same.context, arguments: { id: "x" } } }),
    ).toEqual({
      decision: false,
      context: expect.objectContaining({ reason: "out_of_scope" }),
    });
    expect(await evaluated({ ...same, subject: { type: "agent", id: "eve" } })).toEqual({
      decision: false,
      context: expect.objectContaining({ reason: "out_of_scope" }),
    });
    const unknown = { ...same, context: { ...same.context, approval: { id: "0".repeat(32) } } };
    expect(await evaluated(unknown)).toEqual({
      decision: false,
      context: expect.objectContaining({ reason: "approval_unverifiable" }),
    });
    expect(await evaluated(same)).toMatchObject({ decision: true });
  });

  test("stays denied after a person has denied it", async () => {
    const { task, path } = await ask("denied");
    await decide(task.id, "deny");
    expect(await read(path)).toEqual({ task: expect.objectContaining({ status: "denied" }) });
    const again = { ...request("denied").context, approval: { id: task.id } };
    const { body } = await post(EVALUATION, { ...request("denied"), context: again });
    expect(body).toMatchObject({
      decision: false,
      context: { reason: "approval_denied", next_action: "none" },
    });
  });

  test("can be withdrawn by the enforcement point, once", async () => {
    const { task, path } = await ask("cancelled");
    const cancel = String(task.links.cancel).slice(server.url.length);
    expect(await post(cancel, { reason: "not_needed" })).toMatchObject({
      status: 200,
      body: { task: { status: "cancelled" } },
    });
    expect(await read(path)).toMatchObject({ task: { status: "cancelled" } });
    expect(await post(cancel, {})).toMatchObject({
      status: 409,
      body: { type: "urn:openid:authzen:access-request:error:invalid_task_state" },
    });
  });

  test("has one task, however often it is requested", async () => {
    const { task, denial } = await ask("twice");
    const body = { ...request("twice"), denial };
    const headers = { "idempotency-key": "k-1" };
    const answers = [
      await post(REQUESTS, body, { headers }),
      await post(REQUESTS, body, { headers }),
    ];
    for (const answer of answers) expect(answer.body.task.id).toBe(task.id);
    const other = { ...body, requested_access: { emergency: true } };
    expect(await post(REQUESTS, other, { headers })).toMatchObject({
      status: 409,
      body: { type: "urn:openid:authzen:access-request:error:duplicate_request" },
    });
  });

  test("is not bound to a request that differs from it", async () => {
    const denial = await hold("bound");
    const cases = [
      { ...toolCall("delete_customer", { id: "other" }), denial },
      { ...toolCall("get_order", { id: "bound" }), denial },
      { ...request("bound"), subject: { type: "agent", id: "eve" }, denial },
      { ...request("bound"), denial: { ...denial, evaluation_id: "0".repeat(32) } },
    ];
    for (const body of cases) {
      expect(await post(REQUESTS, body)).toMatchObject({
        status: 400,
        headers: expect.any(Headers),
        body: { type: "urn:openid:authzen:access-request:error:invalid_denial_binding" },
      });
    }
  });

  test("that nobody was asked about cannot be requested", async () => {
    const body = toolCall("get_order", { order_id: "9" });
    const { evaluation_id } = (await post(EVALUATION, body)).body.context;
    const denial = { evaluation_id, expires_at: new Date().toISOString() };
    expect(await post(REQUESTS, { ...body, denial })).toMatchObject({
      status: 400,
      body: { type: "urn:openid:authzen:access-request:error:not_requestable" },
    });
  });

  test("is unknown to tokens of other tenants", async () => {
    const { path, denial } = await ask("tenant");
    const foreign = server.token(["propose"], { platform: true, tenantId: "t-2" });
    expect(await server.send("GET", path, { token: foreign })).toMatchObject({
      status: 404,
      body: { type: "urn:openid:authzen:access-request:error:unknown_task" },
    });
    expect(await post(`${path}/cancel`, {}, { token: foreign })).toMatchObject({ status: 404 });
    expect(
      await post(REQUESTS, { ...request("tenant"), denial }, { token: foreign }),
    ).toMatchObject({ status: 400 });
  });
});
