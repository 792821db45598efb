/**
 * Digests and sealed texts of one secret. Each key and each digest has a tag of its own, so that
 * none of them is valid for another use.
 */
import { decrypted, encrypted, hmac } from "../hash.ts";

/** The path that a text is sealed for, and can only be opened for; the tenant is first. */
type TenantPath = readonly [tenantId: string, ...rest: string[]];

/** An encrypted text in hex; its tag of 16 bytes is at the end. */
export type SealedText = { readonly nonce: string; readonly sealed: string };

const NONCE_BYTES = 12;
const TAG_DIGITS = 32;
const HEX = /^(?:[0-9a-f]{2})*$/;

/**
 * The digest that replaces a tenant's value: 64 hex digits, equal for equal values of the tenant.
 */
export function sealedDigest(secret: Uint8Array, tenantId: string, text: string): string {
  return hexOf(tagged(secret, "callgate.sealed/1", [tenantId, text]));
}

/**
 * AES-256-GCM under a key of the tenant. The nonce is derived from path and text: the same input
 * gives the same bytes anywhere, as the replay of a journal needs, and no two texts share a nonce.
 */
export function sealText(secret: Uint8Array, path: TenantPath, text: string): SealedText {
  const nonceKey = tagged(secret, "callgate.seal-nonce/1", [path[0]]);
  const nonce = tagged(nonceKey, "callgate.seal-nonce/1", [...path, text]).subarray(0, NONCE_BYTES);
  return { nonce: hexOf(nonce), sealed: encrypted(lockOf(secret, path, nonce), text) };
}

/** The text, or null where secret, path or bytes are not those that it was sealed with. */
export function openText(
  secret: Uint8Array,
  path: TenantPath,
  sealedText: SealedText,
): string | null {
  const { nonce, sealed } = sealedText;
  if (!HEX.test(nonce) || !HEX.test(sealed) || sealed.length < TAG_DIGITS) return null;
  const cut = sealed.length - TAG_DIGITS;
  const lock = lockOf(secret, path, bytesOf(nonce));
  return decrypted(lock, sealed.slice(0, cut), bytesOf(sealed.slice(cut)));
}

function lockOf(secret: Uint8Array, path: TenantPath, nonce: Uint8Array) {
  const key = tagged(secret, "callgate.seal-key/1", [path[0]]);
  return { key, nonce, bound: tagged(key, "callgate.seal-place/1", path) };
}

function tagged(key: Uint8Array, tag: string, parts: readonly string[]): Uint8Array {
  return hmac(key, `${tag}\n${JSON.stringify(parts)}`);
}

function bytesOf(hex: string): Uint8Array {
  return Uint8Array.from({ length: hex.length / 2 }, (_, at) =>
    Number.parseInt(hex.slice(2 * at, 2 * at + 2), 16),
  );
}

function hexOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
