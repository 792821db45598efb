/** The hash of Kafka's own default partitioner; the default of librdkafka is another one. */

/** Kept as a function for loops: see docs/style.md, "Loops over texts". */
const { charCodeAt } = String.prototype;

const SEED = 0x9747b28c;
const M = 0x5bd1e995;
const R = 24;

/** Murmur2 as Kafka's Java client computes it, as a signed 32-bit number. */
export function murmur2(data: Uint8Array): number {
  const length = data.length;
  let hash = SEED ^ length;
  const words = length >> 2;
  for (let i = 0; i < words; i += 1) {
    const at = i * 4;
    let k =
      byte(data, at) |
      (byte(data, at + 1) << 8) |
      (byte(data, at + 2) << 16) |
      (byte(data, at + 3) << 24);
    k = Math.imul(k, M);
    k ^= k >>> R;
    k = Math.imul(k, M);
    hash = Math.imul(hash, M) ^ k;
  }
  hash = mixTail(hash, data, words * 4, length & 3);
  hash ^= hash >>> 13;
  hash = Math.imul(hash, M);
  hash ^= hash >>> 15;
  return hash | 0;
}

function mixTail(start: number, data: Uint8Array, at: number, rest: number): number {
  let hash = start;
  if (rest === 3) hash ^= byte(data, at + 2) << 16;
  if (rest >= 2) hash ^= byte(data, at + 1) << 8;
  if (rest >= 1) {
    hash ^= byte(data, at);
    hash = Math.imul(hash, M);
  }
  return hash;
}

function byte(data: Uint8Array, at: number): number {
  return data[at] ?? 0;
}

const encoder = new TextEncoder();

/** The key of every record of a conversation. A tenant id contains no `/`, so the key is unique. */
export function conversationKey(tenantId: string, conversationId: string): string {
  return `${tenantId}/${conversationId}`;
}

const decoder = new TextDecoder();

/** Whether the bytes are the UTF-8 of the text. */
export function isKey(bytes: Uint8Array, key: string): boolean {
  // ASCII text is as long as its bytes, and is compared without being decoded.
  if (bytes.length !== key.length) return decoder.decode(bytes) === key;
  for (let at = 0; at < key.length; at += 1) {
    const unit = charCodeAt.call(key, at);
    if (unit > 0x7f) return false;
    if (bytes[at] !== unit) return false;
  }
  return true;
}

/** The partition of a record with this key. */
export function partitionOf(key: string | Uint8Array, partitions: number): number {
  const bytes = typeof key === "string" ? encoder.encode(key) : key;
  return (murmur2(bytes) & 0x7fffffff) % partitions;
}
