import { sha256Hex } from "../core/hash.ts";

/** The digest of a stored conversation, over all its other fields. */
export function blobDigest(key: string, seq: number, hash: string, bytes: Uint8Array): string {
  return sha256Hex("callgate.checkpoint/1", key, String(seq), hash, bytes);
}
