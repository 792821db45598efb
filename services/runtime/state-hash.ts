import { sha256Hex } from "../core/hash.ts";

/**
 * Digest of one conversation: 64 hex digits over its key, the `seq` of its last event and its state.
 * The sum of these over all conversations is the hash of a partition's state.
 */
export function conversationDigest(key: string, seq: number, snapshot: string): string {
  return sha256Hex("callgate.state/1", key, String(seq), snapshot);
}
