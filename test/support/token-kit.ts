// Keys and tokens of signed proposals.
import { signToken } from "../../services/adapters/tokens/sign-token.ts";
import {
  makeTokenKey,
  type PlainJwk,
  type TokenAlgorithm,
  type TokenKey,
  tokenKeysOf,
} from "../../services/adapters/tokens/token-keys.ts";
import type { JsonObject } from "../../services/core/canonical/json-value.ts";

export type KeyPair = { readonly signing: TokenKey; readonly verifying: PlainJwk };

export async function makeKeys(
  keyId: string,
  algorithm: TokenAlgorithm = "EdDSA",
): Promise<KeyPair> {
  const { signing, verifying } = makeTokenKey(algorithm, keyId);
  const read = await tokenKeysOf({ keys: [signing] });
  const key = read.ok ? read.keys.get(keyId) : undefined;
  if (key === undefined) throw new Error("the key that was made cannot be read");
  return { signing: key, verifying };
}

/** Valid claims that do not expire soon. */
export const CLAIMS = {
  tenantId: "default",
  conversationId: "c",
  agentId: "planner",
  turn: "1",
  exp: 4_000_000_000,
  jti: "token-1",
} as const;

export async function sign(key: TokenKey, claims: JsonObject): Promise<string> {
  const signed = await signToken(claims, key);
  if (!signed.ok) throw new Error(signed.message);
  return signed.token;
}
