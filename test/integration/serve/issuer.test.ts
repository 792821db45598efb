// JWTs of an identity provider, whose keys a real server serves.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { expect, onTestFinished, test } from "vitest";
import { IssuerTokens } from "../../../services/adapters/tokens/issuer-tokens.ts";
import { openServeKit, POLICY } from "../../support/serve/serve-kit.ts";

const ISSUER = "https://id.example";
const AUDIENCE = "callgate";

async function startIssuer() {
  const { publicKey, privateKey } = await generateKeyPair("ES256");
  const jwks = { keys: [{ ...(await exportJWK(publicKey)), kid: "k1", alg: "ES256" }] };
  const server = createServer((_request, response) => {
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(jwks));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const jwksUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/jwks`;
  const claimNames = { rolesClaim: "callgate_roles", tenantClaim: "callgate_tenant" };
  const issuer = new IssuerTokens({
    ...{ issuer: ISSUER, audience: AUDIENCE, jwksUrl, ...claimNames },
    agentClaim: "callgate_agent",
  });
  const sign = (claims: object, changed: { audience?: string; expires?: string } = {}) =>
    new SignJWT({ ...claims })
      .setProtectedHeader({ alg: "ES256", kid: "k1" })
      .setSubject("ann@id.example")
      .setIssuer(ISSUER)
      .setAudience(changed.audience ?? AUDIENCE)
      .setExpirationTime(changed.expires ?? "5m")
      .sign(privateKey);
  return { issuer, sign, server };
}

const CALL = { conversationId: "c", tool: "charge_card", arguments: { order_id: "7" } };

test("the claims say who proposes, and for whom", async () => {
  const { issuer, sign } = await startIssuer();
  const { post, get } = await openServeKit(POLICY, { issuer, isOpen: false });
  const claims = { callgate_roles: ["propose", "platform"], callgate_tenant: "shop" };
  const token = await sign(claims);
  const body = { ...CALL, turn: 1, tenantId: "shop" };
  expect(await post("/v1/proposals", { token, body })).toMatchObject({ status: 200 });
  const foreign = { ...body, tenantId: "other" };
  expect(await post("/v1/proposals", { token, body: foreign })).toMatchObject({ status: 403 });
  const reader = await sign({ callgate_roles: "read" });
  expect(await get("/v1/approvals", { token: reader })).toMatchObject({ status: 200 });
  expect(await post("/v1/proposals", { token: reader, body: CALL })).toMatchObject({
    ...{ status: 403, body: { code: "role_missing" } },
  });
});

test("the subject answers held calls under its own name", async () => {
  const { issuer, sign } = await startIssuer();
  const { post, get } = await openServeKit(POLICY, { issuer });
  const held = { conversationId: "c", tool: "delete_file", arguments: { path: "/a" } };
  const { approvalId } = (await post("/v1/proposals", { body: held })).body;
  const token = await sign({ callgate_roles: "approve" });
  const approved = await post(`/v1/approvals/${approvalId}/approve`, { token });
  expect(approved.body.outcome).toBe("allowed");
  const shown = await get(`/v1/approvals/${approvalId}`, { token });
  expect(shown.body.approvedBy).toEqual(["ann@id.example"]);
});

test.each([
  ["another audience", { callgate_roles: "read" }, { audience: "other" }, "is not valid"],
  ["expired", { callgate_roles: "read" }, { expires: "1 minute ago" }, "has expired"],
  ["no role of ours", { callgate_roles: "owner" }, {}, "has no role of ours"],
  [
    "an agent that approves",
    { callgate_roles: "approve", callgate_agent: "a" },
    {},
    "is an agent's",
  ],
] as const)("%s: 401", async (_what, claims, changed, text) => {
  const { issuer, sign } = await startIssuer();
  const { get } = await openServeKit(POLICY, { issuer });
  const answer = await get("/v1/approvals", { token: await sign(claims, changed) });
  expect(answer).toMatchObject({ status: 401, body: { code: "token_invalid" } });
  expect(answer.body.detail).toContain(text);
});

test("an issuer that does not answer: 503, and nothing is allowed", async () => {
  const { issuer, sign, server } = await startIssuer();
  const { get } = await openServeKit(POLICY, { issuer });
  const token = await sign({ callgate_roles: "read" });
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  const answer = await get("/v1/approvals", { token });
  expect(answer).toMatchObject({ status: 503, body: { code: "issuer_unavailable" } });
});
