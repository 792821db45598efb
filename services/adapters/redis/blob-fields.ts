import type { CheckpointBlob } from "../../runtime/ports.ts";

/** A conversation in a hash: the digest first, where the script looks for it. */
const PREFIX = "c:";
const DIGEST_BYTES = 32;
const HASH_AT = DIGEST_BYTES;
const SEQ_AT = HASH_AT + DIGEST_BYTES;
const HEAD_BYTES = SEQ_AT + 8;

export function blobField(key: string): string {
  return PREFIX + key;
}

export function isBlobField(field: Buffer): boolean {
  return field.toString("latin1", 0, PREFIX.length) === PREFIX;
}

export function encodeBlob(blob: CheckpointBlob): Buffer {
  const bytes = Buffer.alloc(HEAD_BYTES + blob.bytes.length);
  bytes.write(blob.digest, 0, "hex");
  bytes.write(blob.hash, HASH_AT, "hex");
  bytes.writeDoubleLE(blob.seq, SEQ_AT);
  bytes.set(blob.bytes, HEAD_BYTES);
  return bytes;
}

/** Undefined where the bytes are none of ours. */
export function decodeBlob(field: Buffer, bytes: Buffer): CheckpointBlob | undefined {
  if (bytes.length < HEAD_BYTES) return undefined;
  return {
    key: field.toString("utf8", PREFIX.length),
    seq: bytes.readDoubleLE(SEQ_AT),
    hash: bytes.toString("hex", HASH_AT, SEQ_AT),
    digest: bytes.toString("hex", 0, HASH_AT),
    bytes: bytes.subarray(HEAD_BYTES),
  };
}
