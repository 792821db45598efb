/** Makes tokens, for platforms that have no library at hand, and for tests. */
import { CompactSign } from "jose";
import { canonicalText } from "../../core/canonical/canonical-text.ts";
import type { JsonObject } from "../../core/canonical/json-value.ts";
import { readClaims } from "./token-claims.ts";
import type { TokenKey } from "./token-keys.ts";

export type SignedToken =
  | { readonly ok: true; readonly token: string }
  | { readonly ok: false; readonly message: string };

/** A compact JWS over claims that the gate takes; what is wrong with them, or with the key. */
export async function signToken(claims: JsonObject, key: TokenKey): Promise<SignedToken> {
  const { keyId, algorithm, canSign } = key;
  if (!canSign) return failed(`the key \`${keyId}\` is public: sign with its private key`);
  const payload = Buffer.from(canonicalText(claims), "utf8");
  const read = readClaims(payload);
  if (!read.ok) return failed(`the token would not be taken: ${read.message}`);
  const header = { alg: algorithm, kid: keyId };
  const token = await new CompactSign(payload).setProtectedHeader(header).sign(key.key);
  return { ok: true, token };
}

function failed(message: string): SignedToken {
  return { ok: false, message };
}
