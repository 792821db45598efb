/** Signs tokens, for platforms without a JWS library and for tests. */
import { CompactSign } from "jose";
import { canonicalText } from "../../core/canonical/canonical-text.ts";
import type { JsonObject } from "../../core/canonical/json-value.ts";
import { readClaims } from "./token-claims.ts";
import type { TokenKey } from "./token-keys.ts";

export type SignedToken =
  | { readonly ok: true; readonly token: string }
  | { readonly ok: false; readonly message: string };

/** Returns a compact JWS, or why the gate would refuse the claims or the key cannot sign. */
export async function signToken(claims: JsonObject, key: TokenKey): Promise<SignedToken> {
  const { keyId, algorithm, canSign } = key;
  if (!canSign) return failed(`the key \`${keyId}\` is public: sign with its private key`);
  const payload = Buffer.from(canonicalText(claims), "utf8");
  const read = readClaims(payload);
  if (!read.ok) return failed(`the gate would refuse the token: ${read.message}`);
  const header = { alg: algorithm, kid: keyId };
  const token = await new CompactSign(payload).setProtectedHeader(header).sign(key.key);
  return { ok: true, token };
}

function failed(message: string): SignedToken {
  return { ok: false, message };
}
