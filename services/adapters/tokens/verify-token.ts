/**
 * Verifies the signature of a compact JWS and reads its claims. Expiry is checked by the caller,
 * which knows the time of the record.
 */
import { compactVerify, errors } from "jose";
import { type ClaimsResult, readClaims, type TokenClaims } from "./token-claims.ts";
import type { TokenKey, TokenKeys } from "./token-keys.ts";

/** `message` continues a sentence about the token, such as `has expired`. */
export type VerifiedToken =
  | { readonly ok: true; readonly claims: TokenClaims; readonly keyId: string }
  | { readonly ok: false; readonly message: string };

/** Longer tokens are refused unread, so that writers of proposals cannot slow the gate down. */
export const TOKEN_CHARACTERS_MAX = 8 * 1024;

const HEADER_MEMBERS = ["alg", "kid", "typ"];

/** Never rejects. The message quotes nothing of the token. */
export async function verifyToken(text: string, keys: TokenKeys): Promise<VerifiedToken> {
  const segments = text.split(".");
  if (text.length > TOKEN_CHARACTERS_MAX) return failed("is too long");
  if (segments.length !== 3 || !segments.every(isCanonicalBase64)) {
    return failed("is not a compact JWS");
  }
  const key = keyFor(segments[0] ?? "", keys);
  if (typeof key === "string") return failed(key);
  try {
    const options = { algorithms: [key.algorithm] };
    const { payload } = await compactVerify(text, key.key, options);
    return checked(readClaims(payload), key.keyId);
  } catch (error) {
    const isSignature = error instanceof errors.JWSSignatureVerificationFailed;
    return failed(isSignature ? "has a wrong signature" : "is not a compact JWS");
  }
}

/** Unused bits, which decoding drops, must be zero, so that each token has one spelling. */
function isCanonicalBase64(segment: string): boolean {
  return Buffer.from(segment, "base64url").toString("base64url") === segment;
}

function keyFor(segment: string, keys: TokenKeys): TokenKey | string {
  const header = headerOf(segment);
  if (header === undefined) return "has a header that is not a JSON object";
  const { alg, kid } = header;
  if (Object.keys(header).some((name) => !HEADER_MEMBERS.includes(name))) {
    return "has a header member other than `alg`, `kid` and `typ`";
  }
  if (typeof kid !== "string") return "names no key (`kid`)";
  const key = keys.get(kid);
  if (key === undefined) return "names a key (`kid`) that this gate does not know";
  // The key decides the algorithm: otherwise a token could use a public key as an HMAC secret.
  return alg === key.algorithm ? key : "has another `alg` than its key";
}

function headerOf(segment: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const header: unknown = JSON.parse(Buffer.from(segment, "base64url").toString("utf8"));
    const isObject = typeof header === "object" && header !== null && !Array.isArray(header);
    return isObject ? (header as Readonly<Record<string, unknown>>) : undefined;
  } catch {
    return undefined;
  }
}

function checked(result: ClaimsResult, keyId: string): VerifiedToken {
  if (result.ok) return { ok: true, claims: result.claims, keyId };
  return failed(`is not complete: ${result.message}`);
}

function failed(message: string): VerifiedToken {
  return { ok: false, message };
}
