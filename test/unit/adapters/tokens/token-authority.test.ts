// Members that only the platform may set come from its token, or the proposal is refused.
import { CompactSign } from "jose";
import { describe, expect, test } from "vitest";
import {
  TOKEN_HEADER,
  TokenAuthority,
} from "../../../../services/adapters/tokens/token-authority.ts";
import { tokenKeysOf } from "../../../../services/adapters/tokens/token-keys.ts";
import type { JsonObject } from "../../../../services/core/canonical/json-value.ts";
import type { ProposalInput } from "../../../../services/core/inputs.ts";
import type { LogRecord } from "../../../../services/runtime/ports.ts";
import { CLAIMS, type KeyPair, makeKeys, sign } from "../../../support/token-kit.ts";

const PROPOSAL: ProposalInput = {
  type: "proposal",
  ...{ tenantId: "default", conversationId: "c", callId: "1", agentId: null, turn: null },
  ...{ step: "1", tool: "charge_card", arguments: "{}", assistantText: null },
  ...{ estimatedCost: null, confirmation: null, rejected: null },
};

function recordOf(...tokens: readonly string[]): LogRecord {
  const headers = tokens.map((value) => ({ name: TOKEN_HEADER, value }));
  return { offset: 0, appendTimeMs: 0, key: null, value: null, headers };
}

async function authorityOf(...pairs: readonly KeyPair[]): Promise<TokenAuthority> {
  const read = await tokenKeysOf({ keys: pairs.map(({ verifying }) => verifying) });
  if (!read.ok) throw new Error(read.message);
  return new TokenAuthority(read.keys);
}

async function vouched(
  authority: TokenAuthority,
  tokens: readonly string[],
  proposal: Partial<ProposalInput> = {},
  nowMs = 0,
): Promise<ProposalInput> {
  const record = recordOf(...tokens);
  await authority.pending(record);
  return authority.vouch({ ...PROPOSAL, ...proposal }, record, nowMs);
}

const keys = await makeKeys("a");
const secretKeys = await makeKeys("s", "HS256");

test.each([keys, secretKeys])("takes the members from the token alone", async (pair) => {
  const authority = await authorityOf(pair);
  const token = await sign(pair.signing, CLAIMS);
  const input = await vouched(authority, [token], {
    estimatedCost: { microUnits: 1, currency: "USD" },
  });
  const { keyId } = pair.signing;
  expect(input).toEqual({
    ...PROPOSAL,
    agentId: "planner",
    turn: "1",
    vouched: { tokenId: "token-1", keyId, expiresAtMs: 4_000_000_000_000, confirms: null },
  });
});

describe("refuses as unauthenticated and says why", () => {
  const cases: readonly (readonly [string, () => Promise<readonly string[]>, string])[] = [
    ["no token", async () => [], "the record has no header `callgate-token`"],
    [
      "two tokens",
      async () => [await sign(keys.signing, CLAIMS), await sign(keys.signing, CLAIMS)],
      "the record has more than one header `callgate-token`",
    ],
    ["no JWS", async () => ["abc"], "the token is not a compact JWS"],
    ["a long text", async () => ["a".repeat(9_000)], "the token is too long"],
    [
      "another key under a known kid",
      async () => [await sign((await makeKeys("a")).signing, CLAIMS)],
      "the token has a wrong signature",
    ],
    [
      "an unknown kid",
      async () => [await sign((await makeKeys("b")).signing, CLAIMS)],
      "the token names a key (`kid`) that this gate does not know",
    ],
    [
      "alg none",
      async () => [unsigned({ alg: "none", kid: "a" })],
      "the token has another `alg` than its key",
    ],
    [
      "a public key as a secret",
      async () => {
        const secret = Buffer.from(keys.verifying["x"] ?? "", "base64url");
        const payload = Buffer.from(JSON.stringify(CLAIMS));
        const header = { alg: "HS256", kid: "a" };
        return [await new CompactSign(payload).setProtectedHeader(header).sign(secret)];
      },
      "the token has another `alg` than its key",
    ],
  ];
  test.each(cases)("%s", async (_, tokens, message) => {
    const input = await vouched(await authorityOf(keys), await tokens());
    expect(input.rejected).toEqual({ reason: "unauthenticated", message });
    expect(input).toMatchObject({
      agentId: null,
      turn: null,
      confirmation: null,
      estimatedCost: null,
    });
    expect(input.vouched).toBeUndefined();
  });

  test.each(Object.keys(CLAIMS))("a token without `%s`", async (name) => {
    const { [name as keyof typeof CLAIMS]: _, ...rest } = CLAIMS;
    const message = `the token is not complete: it lacks \`${name}\``;
    expect(await refusalOf(rest)).toEqual(message);
  });

  test("an unknown claim, a confirmation of no call, an invalid time", async () => {
    const start = "the token is not complete: ";
    expect(await refusalOf({ ...CLAIMS, nbf: 1 })).toBe(
      `${start}it has a claim that is not known here`,
    );
    const confirmation = { id: "yes", tool: "t" };
    expect(await refusalOf({ ...CLAIMS, confirmation })).toContain("names no call");
    expect(await refusalOf({ ...CLAIMS, exp: 1.5 })).toContain("`exp`");
  });
});

function unsigned(header: object, claims: object = CLAIMS): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  return `${part(header)}.${part(claims)}.`;
}

/** Signs directly with the key, since `signToken` refuses such claims. */
async function refusalOf(claims: JsonObject): Promise<string | undefined> {
  const payload = Buffer.from(JSON.stringify(claims));
  const header = { alg: "EdDSA", kid: "a" };
  const token = await new CompactSign(payload).setProtectedHeader(header).sign(keys.signing.key);
  return (await vouched(await authorityOf(keys), [token])).rejected?.message;
}

test("compares expiry with gate time, not with this host's clock", async () => {
  const authority = await authorityOf(keys);
  const token = await sign(keys.signing, { ...CLAIMS, exp: 100 });
  expect((await vouched(authority, [token], {}, 99_999)).rejected).toBeNull();
  const late = await vouched(authority, [token], {}, 100_000);
  expect(late.rejected?.message).toBe("the token has expired");
});

test("names the member in which the payload contradicts the token", async () => {
  const authority = await authorityOf(keys);
  const confirmation = { id: "yes", tool: "charge_card", callId: "1" };
  const estimatedCost = { microUnits: 5, currency: "USD" };
  const token = await sign(keys.signing, { ...CLAIMS, confirmation, estimatedCost });
  const said: Partial<ProposalInput> = {
    ...{ tenantId: "t", conversationId: "d", agentId: "other", turn: "2", confirmation: "no" },
    estimatedCost: { microUnits: 6, currency: "USD" },
  };
  for (const [name, value] of Object.entries(said)) {
    const input = await vouched(authority, [token], { [name]: value });
    expect(input.rejected?.message).toBe(`the token is for another \`${name}\``);
  }
  const same = { agentId: "planner", turn: "1", confirmation: "yes", estimatedCost };
  const input = await vouched(authority, [token], same);
  expect(input).toMatchObject({ ...same, rejected: null });
  expect(input.vouched?.confirms).toEqual({
    tool: "charge_card",
    callId: "1",
    argumentsDigest: null,
  });
});

test("accepts both keys during a rotation, and the earlier one no more after it", async () => {
  const next = await makeKeys("b");
  const authority = await authorityOf(keys);
  const tokens = [await sign(keys.signing, CLAIMS), await sign(next.signing, CLAIMS)] as const;
  const reasons = async () =>
    Promise.all(tokens.map(async (token) => (await vouched(authority, [token])).rejected?.reason));
  expect(await reasons()).toEqual([undefined, "unauthenticated"]);
  const setKeys = async (...pairs: readonly KeyPair[]) => {
    const read = await tokenKeysOf({ keys: pairs.map(({ verifying }) => verifying) });
    if (read.ok) authority.setKeys(read.keys);
  };
  await setKeys(keys, next);
  expect(await reasons()).toEqual([undefined, undefined]);
  await setKeys(next);
  expect(await reasons()).toEqual(["unauthenticated", undefined]);
});

test("drops a verification that ends after the keys were replaced", async () => {
  const authority = await authorityOf(keys);
  const record = recordOf(await sign(keys.signing, CLAIMS));
  const underWay = authority.pending(record);
  authority.setKeys(new Map());
  await underWay;
  expect(authority.pending(record)).not.toBeNull();
  await authority.pending(record);
  expect(authority.vouch(PROPOSAL, record, 0).rejected?.reason).toBe("unauthenticated");
});

test.each([
  [{}, "no list of keys"],
  [{ keys: [] }, "empty"],
  [{ keys: [{ kty: "oct", k: "c2hvcnQ", kid: "a" }] }, "at least 32"],
  [{ keys: [{ kty: "RSA", kid: "a" }] }, "must be `kty: OKP`"],
  [{ keys: [{ kty: "oct", k: "A".repeat(43) }] }, "needs a `kid`"],
  [{ keys: [keys.verifying, keys.verifying] }, "`kid` of an earlier key"],
  [{ keys: [{ ...keys.verifying, alg: "HS256" }] }, "must have `alg: EdDSA`"],
])("refuses an invalid set of keys: %j", async (set, message) => {
  const read = await tokenKeysOf(set);
  expect(read.ok ? "" : read.message).toContain(message);
});
