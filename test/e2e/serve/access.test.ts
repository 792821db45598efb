// Who reaches what of `callgate serve`: hosts, origins, tenants, roles, and what a request may state.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Role } from "../../../services/adapters/tokens/access-tokens.ts";
import { RawConnection, sendRaw } from "../../support/serve/raw-request.ts";
import { ServeProcess } from "../../support/serve/serve-process.ts";

const POLICY = `
authorization:
  tiers: [{ name: ask, pattern: "delete_*", action: hitl, expires_ms: 900000 }]
tool_schemas:
  get_order: { read_only: true }
  charge_card: { read_only: false }
  delete_customer: { read_only: false }
`;
const JSON_TYPE = { "content-type": "application/json" };

let server: ServeProcess;
beforeAll(async () => {
  server = await ServeProcess.start({ policy: POLICY });
});
afterAll(() => server.end());

let nth = 0;
function proposal(tool: string, more: object = {}) {
  nth += 1;
  return { conversationId: `c-${nth}`, callId: "a", tool, arguments: { id: "7" }, ...more };
}

async function hold(token: string, more: object = {}) {
  const { status, body } = await server.send("POST", "/v1/proposals", {
    ...{ token, body: proposal("delete_customer", more) },
  });
  expect({ status, outcome: body.outcome }).toEqual({ status: 200, outcome: "held" });
  return body as { readonly approvalId: string; readonly decisionId: string };
}

describe("a page in a browser", () => {
  const body = JSON.stringify(proposal("get_order"));
  const post = (headers: Record<string, string>) =>
    sendRaw(server.url, {
      ...{ method: "POST", path: "/v1/proposals", body },
      headers: { ...JSON_TYPE, ...headers },
    });

  test.each([
    "evil.example",
    "evil.example:80",
    "localhost.evil.example",
    "127.0.0.1.nip.io",
    "127.0.0.1@evil.example",
    "localhost:1:2",
    "[::1].evil.example",
    "0.0.0.0",
  ])("does not reach the server as %s", async (host) => {
    const answer = await post({ host });
    expect(answer.status, answer.text).toBeGreaterThanOrEqual(400);
    expect(answer.status).toBeLessThan(404);
    for (const path of ["/v1/approvals", "/v1/decisions/x", "/.well-known/authzen-configuration"]) {
      expect([400, 401, 403]).toContain(
        (await sendRaw(server.url, { path, headers: { host } })).status,
      );
    }
  });

  test.each(["https://evil.example", "null", "http://localhost:3000", ""])(
    "of the origin `%s` does nothing without a token",
    async (origin) => {
      const answer = await post({ origin });
      expect(answer.status).toBe(403);
      expect(answer.headers["access-control-allow-origin"]).toBeUndefined();
    },
  );

  test("is not told that it may read the answer", async () => {
    const origin = "https://evil.example";
    const preflight = await sendRaw(server.url, {
      ...{ method: "OPTIONS", path: "/v1/proposals" },
      headers: { origin, "access-control-request-method": "POST" },
    });
    const token = server.token(["propose"]);
    const answer = await post({ origin, authorization: `Bearer ${token}` });
    for (const { headers } of [preflight, answer]) {
      expect(headers["access-control-allow-origin"]).toBeUndefined();
    }
    expect(preflight.status).not.toBe(204);
  });

  test("cannot send a simple request that is taken for JSON", async () => {
    for (const type of ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"]) {
      expect(await post({ "content-type": type })).toMatchObject({ status: 415 });
    }
  });
});

describe("a token of another tenant", () => {
  const EVERY: readonly Role[] = ["propose", "execute", "approve", "read", "admin"];

  test("sees nothing under any path", async () => {
    const held = await hold(server.token(["propose"], { tenantId: "t-1" }));
    const values: Readonly<Record<string, string>> = {
      decisionId: held.decisionId,
      approvalId: held.approvalId,
      taskId: held.approvalId,
      conversationId: `c-${nth}`,
      executionId: held.decisionId,
    };
    const foreign = server.token(EVERY, { tenantId: "t-2", name: "eve" });
    const { paths } = (await server.send("GET", "/openapi.json")).body;
    let calls = 0;
    for (const [path, methods] of Object.entries<object>(paths)) {
      if (!path.includes("{")) continue;
      const filled = path.replaceAll(/\{(\w+)\}/g, (_all, name: string) => {
        expect(values, `a value for {${name}}`).toHaveProperty(name);
        return values[name] ?? "";
      });
      for (const method of Object.keys(methods)) {
        const answer = await server.send(method.toUpperCase() as "GET", `${filled}?tenantId=t-1`, {
          token: foreign,
          ...(method === "post" ? { body: bodyFor(path) } : {}),
        });
        expect(answer.status, `${method} ${path} ${answer.text}`).toBe(404);
        expect(answer.text).not.toContain("delete_customer");
        calls += 1;
      }
    }
    expect(calls).toBeGreaterThanOrEqual(10);
    for (const path of ["/v1/approvals", "/v1/approvals?tenantId=t-1"]) {
      expect((await server.send("GET", path, { token: foreign })).body).toEqual({ approvals: [] });
    }
    const still = await server.send("GET", `/v1/approvals/${held.approvalId}`, {
      token: server.adminToken,
    });
    expect(still.body).toMatchObject({ state: "waiting", tenantId: "t-1" });
  });

  /** A valid body: the tenant is checked, not the form. */
  function bodyFor(path: string): object {
    return path.endsWith("/result") ? { status: "succeeded" } : {};
  }

  test("does not propose for the tenant", async () => {
    for (const platform of [false, true]) {
      const token = server.token(["propose"], { tenantId: "t-2", platform });
      const body = proposal("get_order", { tenantId: "t-1" });
      expect(await server.send("POST", "/v1/proposals", { token, body })).toMatchObject({
        status: 403,
      });
    }
  });

  test("bound to a conversation does not see another of its tenant", async () => {
    const held = await hold(server.token(["propose"], { tenantId: "t-1" }));
    const token = server.token(["propose", "read"], { tenantId: "t-1", conversationId: "other" });
    const path = `/v1/decisions/${held.decisionId}`;
    expect(await server.send("GET", path, { token })).toMatchObject({ status: 404 });
    expect((await server.send("GET", "/v1/approvals", { token })).body).toEqual({ approvals: [] });
  });
});

describe("an agent", () => {
  const approve = (approvalId: string, token: string | undefined, body: object = {}) =>
    server.send("POST", `/v1/approvals/${approvalId}/approve`, { token, body });

  test("does not approve its call, under whatever role, name or spelling", async () => {
    const agent = { agentId: "planner", name: "planner" };
    const { approvalId, decisionId } = await hold(server.token(["propose"], agent));
    const tokens = [
      undefined,
      server.token(["propose"], agent),
      server.token(["propose", "execute", "read"], agent),
      server.token(["propose", "approve"], agent),
      server.token(["approve"], { agentId: "Planner ", name: "ann" }),
      server.token(["approve"], { name: "PLANNER" }),
      server.token(["admin"], { name: "planner" }),
    ];
    for (const token of tokens) {
      expect([401, 403]).toContain((await approve(approvalId, token)).status);
    }
    const forged = await approve(approvalId, server.token(["approve"]), { by: "ann" });
    expect(forged.status).toBe(400);
    const { body } = await server.send("GET", `/v1/decisions/${decisionId}`, {
      token: server.adminToken,
    });
    expect(body.outcome).toBe("held");
    const answer = await approve(approvalId, server.token(["approve"], { name: "ann" }));
    expect(answer.body).toMatchObject({ outcome: "allowed" });
    expect(answer.body.idempotencyKey).toBeUndefined();
  });

  test.each<readonly [string, readonly Role[]]>([
    ["an administrator", ["admin"]],
    ["an approver", ["approve"]],
    ["a reader", ["read"]],
    ["a worker", ["execute"]],
  ])("%s does not propose", async (_who, roles) => {
    const token = server.token(roles, { platform: true });
    const options = { token, body: proposal("get_order") };
    expect(await server.send("POST", "/v1/proposals", options)).toMatchObject({ status: 403 });
    const evaluation = {
      subject: { type: "agent", id: "a" },
      action: { name: "tools/call" },
      resource: { type: "tool", id: "get_order" },
    };
    expect(
      await server.send("POST", "/access/v1/evaluation", { token, body: evaluation }),
    ).toMatchObject({ status: 403 });
  });

  test("of a reader reports nothing, and sees no key", async () => {
    const { body } = await server.send("POST", "/v1/proposals", { body: proposal("charge_card") });
    expect(body.idempotencyKey).toEqual(expect.any(String));
    const token = server.token(["read"]);
    const path = `/v1/decisions/${body.decisionId}`;
    const report = { token, body: { status: "succeeded" } };
    expect(await server.send("POST", `${path}/result`, report)).toMatchObject({ status: 403 });
    const shown = await server.send("GET", path, { token });
    expect(shown.text).not.toContain(body.idempotencyKey);
  });

  test.each(["", "Bearer", "Bearer x", "bearer cg_0_0", "Basic YTpi", "Bearer a b"])(
    "with the credentials `%s` is nobody",
    async (authorization) => {
      const options = { body: proposal("get_order"), headers: { authorization } };
      expect(await server.send("POST", "/v1/proposals", options)).toMatchObject({ status: 401 });
    },
  );

  test("with a token that differs in one character is nobody", async () => {
    const token = server.token(["propose"]);
    const last = token.endsWith("A") ? "B" : "A";
    for (const wrong of [`${token.slice(0, -1)}${last}`, `${token}A`, token.slice(0, -1)]) {
      const options = { token: wrong, body: proposal("get_order") };
      expect(await server.send("POST", "/v1/proposals", options)).toMatchObject({ status: 401 });
    }
    const expired = server.token(["propose"], { expiresAtMs: Date.now() - 1 });
    expect(
      await server.send("POST", "/v1/proposals", { token: expired, body: proposal("get_order") }),
    ).toMatchObject({ status: 401 });
  });
});

describe("what only a platform knows", () => {
  test.each([
    { turn: "2" },
    { agentId: "planner" },
    { tenantId: "t-1" },
    { confirmation: "yes" },
    { estimatedCost: { microUnits: 0, currency: "USD" } },
  ])("is not taken from a body: %o", async (more) => {
    const token = server.token(["propose"], { tenantId: "default" });
    for (const one of [token, undefined]) {
      const options = { token: one, body: proposal("get_order", more) };
      const answer = await server.send("POST", "/v1/proposals", options);
      expect(answer).toMatchObject({ status: 403 });
      expect(["platform_only", "other_subject"]).toContain(answer.body.code);
    }
  });

  test("is not taken from headers or the query", async () => {
    const names = [
      "turn",
      "agentId",
      "agent-id",
      "tenantId",
      "tenant-id",
      "confirmation",
      "platform",
    ];
    const headers = Object.fromEntries(
      names
        .flatMap((name) => [name, `x-${name}`, `callgate-${name}`])
        .map((name) => [name, "smuggled"]),
    );
    const query = new URLSearchParams(
      names.map((name): [string, string] => [name, "smuggled"]),
    ).toString();
    const options = { body: proposal("delete_customer"), headers };
    const { status, body } = await server.send("POST", `/v1/proposals?${query}`, options);
    expect({ status, outcome: body.outcome }).toEqual({ status: 200, outcome: "held" });
    const token = server.adminToken;
    const shown = await server.send("GET", `/v1/approvals/${body.approvalId}`, { token });
    expect(shown.body).toMatchObject({ tenantId: "default", agentId: null });
    expect(shown.text).not.toContain("smuggled");
  });

  const start = '{"conversationId":"dup","callId":"a","arguments":{},';
  test.each([
    ["a member twice", `${start}"tool":"get_order","tool":"delete_customer"}`],
    ["a member twice, once escaped", `${start}"tool":"get_order","t\\u006fol":"delete_customer"}`],
    ["an argument twice", '{"conversationId":"dup","tool":"get_order","arguments":{"a":1,"a":2}}'],
    ["a prototype", `${start}"tool":"get_order","__proto__":{"platform":true}}`],
    ["a constructor", `${start}"tool":"get_order","constructor":{"platform":true}}`],
    ["other spelling of a member", `${start}"tool":"get_order","TenantId":"t-1"}`],
    ["text after the object", `${start}"tool":"get_order"} {}`],
    ["a comment", `${start}"tool":"get_order" /* */}`],
    ["a byte order mark", `\uFEFF${start}"tool":"get_order"}`],
    ["half a surrogate pair", `${start}"tool":"get_order\\ud800"}`],
    ["a list", "[]"],
    ["a text", '"text"'],
    ["null", "null"],
  ])("is not smuggled by %s", async (_what, body) => {
    const token = server.token(["propose"], { platform: true });
    expect(await server.send("POST", "/v1/proposals", { token, body })).toMatchObject({
      status: 400,
    });
  });

  test("is not smuggled by a request in a request", async () => {
    const inner = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";
    const heads = [
      `Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${inner}`,
      `Content-Length: 0\r\nContent-Length: ${inner.length}\r\n\r\n${inner}`,
      `Transfer-Encoding: identity, chunked, identity\r\n\r\n0\r\n\r\n${inner}`,
      `Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n${inner}`,
    ];
    for (const head of heads) {
      const connection = new RawConnection(server.url);
      const first =
        "POST /v1/proposals HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";
      await connection.write(`${first}${head}`);
      await connection.closed;
      expect(connection.statuses(), head).toEqual([400]);
    }
  });

  test("the call id is one, however it is sent", async () => {
    const body = JSON.stringify(proposal("get_order", { callId: "b" }));
    const twice = await sendRaw(server.url, {
      ...{ method: "POST", path: "/v1/proposals", body },
      headers: { ...JSON_TYPE, "idempotency-key": ["b", "c"] },
    });
    expect(twice.status).toBe(400);
  });
});
