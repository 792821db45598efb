/** The rows of the state store as bytes. */
import { createHash } from "node:crypto";
import type { CheckpointBlob } from "../../runtime/ports.ts";
import { readTimes } from "../../runtime/stored-conversation.ts";

/** The longest key that a page of `PAGE_BYTES` can have is a little longer. */
const KEY_BYTES_MAX = 400;
/** No key begins with it: ids have no control characters. */
const DIGEST_MARK = Buffer.of(0);

/** The bytes under which the store has a key: of a long one a digest. */
export function rowKey(key: string): Buffer {
  const bytes = Buffer.from(key);
  if (bytes.length <= KEY_BYTES_MAX) return bytes;
  return Buffer.concat([DIGEST_MARK, createHash("sha256").update(bytes).digest()]);
}

const DIGEST_BYTES = 32;
const DIGEST_AT = 8;
const HASH_AT = DIGEST_AT + DIGEST_BYTES;
const STATE_AT = HASH_AT + DIGEST_BYTES;

/** `seq`, digest, hash, then the conversation's bytes. */
export function encodeState(blob: CheckpointBlob): Buffer {
  const bytes = Buffer.allocUnsafe(STATE_AT + blob.bytes.length);
  bytes.writeDoubleLE(blob.seq, 0);
  bytes.write(blob.digest, DIGEST_AT, "hex");
  bytes.write(blob.hash, HASH_AT, "hex");
  bytes.set(blob.bytes, STATE_AT);
  return bytes;
}

export function decodeState(key: string, bytes: Buffer): CheckpointBlob | undefined {
  if (bytes.length < STATE_AT) return undefined;
  return {
    key,
    seq: bytes.readDoubleLE(0),
    digest: bytes.toString("hex", DIGEST_AT, HASH_AT),
    hash: bytes.toString("hex", HASH_AT, STATE_AT),
    bytes: bytes.subarray(STATE_AT),
  };
}

/** What the sum of the state takes of a hash: its first 96 bits. */
const HASH_START_BYTES = 12;
const DEADLINE_AT = 8;
const DROP_AT = 16;
const HASH_START_AT = 24;
const ENTRY_BYTES = HASH_START_AT + HASH_START_BYTES;

export type Entry = {
  /** Null: it is the row's own. */
  readonly key: string | null;
  readonly seq: number;
  readonly deadlineMs: number | undefined;
  readonly dropAtMs: number;
  /** The first hex digits of the conversation's hash, as many as `exchangeHash` reads. */
  readonly hashStart: string;
};

/** The times and the start of the hash, then the key where the row has a digest of it. */
export function encodeEntry({ key, seq, hash, bytes }: CheckpointBlob, row: Buffer): Buffer {
  const longKey = row[0] === DIGEST_MARK[0] ? Buffer.from(key) : Buffer.alloc(0);
  const entry = Buffer.concat([Buffer.alloc(ENTRY_BYTES), longKey]);
  const { deadlineMs, dropAtMs } = readTimes(bytes);
  entry.writeDoubleLE(seq, 0);
  entry.writeDoubleLE(deadlineMs ?? Number.NaN, DEADLINE_AT);
  entry.writeDoubleLE(dropAtMs, DROP_AT);
  entry.write(hash.slice(0, 2 * HASH_START_BYTES), HASH_START_AT, "hex");
  return entry;
}

export function decodeEntry(bytes: Buffer): Entry | undefined {
  if (bytes.length < ENTRY_BYTES) return undefined;
  const deadlineMs = bytes.readDoubleLE(DEADLINE_AT);
  return {
    key: bytes.length === ENTRY_BYTES ? null : bytes.toString("utf8", ENTRY_BYTES),
    seq: bytes.readDoubleLE(0),
    deadlineMs: Number.isNaN(deadlineMs) ? undefined : deadlineMs,
    dropAtMs: bytes.readDoubleLE(DROP_AT),
    hashStart: bytes.toString("hex", HASH_START_AT, ENTRY_BYTES),
  };
}
