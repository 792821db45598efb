/**
 * Sums of SHA-256 digests modulo 2^256: a hash of a set that does not depend on order, and from
 * which one member can be removed again.
 */
const MODULUS = 1n << 256n;

export const ZERO_DIGEST = "0".repeat(64);

/** The arguments and the result are hex texts of 64 digits. */
export function addDigests(left: string, right: string): string {
  return toHex((fromHex(left) + fromHex(right)) % MODULUS);
}

export function subtractDigests(left: string, right: string): string {
  return toHex((fromHex(left) - fromHex(right) + MODULUS) % MODULUS);
}

function fromHex(digest: string): bigint {
  return BigInt(`0x${digest}`);
}

function toHex(value: bigint): string {
  return value.toString(16).padStart(64, "0");
}
