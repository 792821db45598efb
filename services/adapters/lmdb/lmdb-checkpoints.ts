import { addDigests, subtractDigests, ZERO_DIGEST } from "../../runtime/digest-sum.ts";
import type {
  CheckpointBlob,
  CheckpointHeader,
  CheckpointSaved,
  CheckpointStore,
  CheckpointUpdate,
  LoadedCheckpoint,
} from "../../runtime/ports.ts";
import type { Environment } from "./environment.ts";
import { namedKey } from "./keys.ts";

/** The stored header: `generation` grows with each save and is the mark. */
type Stored = {
  readonly header: CheckpointHeader;
  readonly count: number;
  readonly digestSum: string;
  readonly generation: number;
};

const DIGEST_BYTES = 32;
const KEY_LENGTH_AT = 8 + 2 * DIGEST_BYTES;
const BLOB_HEAD_BYTES = KEY_LENGTH_AT + 4;

/**
 * Checkpoints in the store of the log: one header and one blob for each conversation, changed in one
 * transaction. Conversations are keyed by a number of the partition and the key's own bytes.
 */
export class LmdbCheckpoints implements CheckpointStore {
  readonly #environment: Environment;

  constructor(environment: Environment) {
    this.#environment = environment;
  }

  async load(partition: number): Promise<LoadedCheckpoint> {
    return this.#environment.view(() => {
      const bytes = this.#environment.tables.named.get(headerKey(partition));
      if (bytes === undefined) return { mark: null, checkpoint: null, problem: null };
      const mark = markOf(bytes);
      const stored = parseStored(bytes);
      if (stored === undefined) {
        return { mark, checkpoint: null, problem: "its header cannot be read" };
      }
      const blobs: CheckpointBlob[] = [];
      for (const { value } of this.#environment.tables.checkpoints.getRange(blobRange(partition))) {
        const blob = decodeBlob(value);
        if (blob === undefined) {
          return { mark, checkpoint: null, problem: "one of its conversations cannot be read" };
        }
        blobs.push(blob);
      }
      const { header, count, digestSum } = stored;
      return { mark, checkpoint: { header, count, digestSum, blobs }, problem: null };
    });
  }

  async save(
    partition: number,
    update: CheckpointUpdate,
    expectedMark: string | null,
  ): Promise<CheckpointSaved> {
    return this.#environment.transact((): CheckpointSaved => {
      const { named } = this.#environment.tables;
      const bytes = named.get(headerKey(partition));
      const mark = bytes === undefined ? null : markOf(bytes);
      if (mark !== expectedMark) return { type: "stale", mark };
      const stored = bytes === undefined ? undefined : parseStored(bytes);
      if (update.replace) this.#clear(partition);
      const before = update.replace
        ? { count: 0, digestSum: ZERO_DIGEST }
        : { count: stored?.count ?? 0, digestSum: stored?.digestSum ?? ZERO_DIGEST };
      const after = this.#apply(partition, update, before);
      const next: Stored = {
        header: update.header,
        ...after,
        generation: (stored?.generation ?? 0) + 1,
      };
      const encoded = Buffer.from(JSON.stringify(next));
      named.putSync(headerKey(partition), encoded);
      return { type: "saved", mark: markOf(encoded) };
    });
  }

  #apply(
    partition: number,
    update: CheckpointUpdate,
    before: { readonly count: number; readonly digestSum: string },
  ): { readonly count: number; readonly digestSum: string } {
    const { checkpoints } = this.#environment.tables;
    let { count, digestSum } = before;
    const take = (key: Buffer): void => {
      const old = checkpoints.get(key);
      if (old === undefined) return;
      digestSum = subtractDigests(digestSum, decodeBlob(old)?.digest ?? ZERO_DIGEST);
      count -= 1;
    };
    for (const conversation of update.removals) {
      const key = blobKey(partition, conversation);
      take(key);
      checkpoints.removeSync(key);
    }
    for (const blob of update.upserts) {
      const key = blobKey(partition, blob.key);
      take(key);
      checkpoints.putSync(key, encodeBlob(blob));
      digestSum = addDigests(digestSum, blob.digest);
      count += 1;
    }
    return { count, digestSum };
  }

  #clear(partition: number): void {
    const { checkpoints } = this.#environment.tables;
    const keys = [...checkpoints.getKeys(blobRange(partition))];
    for (const key of keys) checkpoints.removeSync(key);
  }
}

function headerKey(partition: number): Buffer {
  return namedKey("checkpoint", partition);
}

function blobKey(partition: number, conversation: string): Buffer {
  const key = Buffer.allocUnsafe(2 + Buffer.byteLength(conversation));
  key.writeUInt16BE(partition, 0);
  key.write(conversation, 2);
  return key;
}

function blobRange(partition: number): { readonly start: Buffer; readonly end: Buffer } {
  return { start: blobKey(partition, ""), end: blobKey(partition + 1, "") };
}

/** The stored header's own bytes are what names it: they differ with every save. */
function markOf(bytes: Buffer): string {
  return bytes.toString("base64url");
}

function parseStored(bytes: Buffer): Stored | undefined {
  try {
    const stored = JSON.parse(bytes.toString("utf8")) as Stored;
    const whole = typeof stored.digestSum === "string" && typeof stored.count === "number";
    return whole && typeof stored.header?.seq === "number" ? stored : undefined;
  } catch {
    return undefined;
  }
}

function encodeBlob(blob: CheckpointBlob): Buffer {
  const key = Buffer.from(blob.key, "utf8");
  const bytes = Buffer.allocUnsafe(BLOB_HEAD_BYTES + key.length + blob.bytes.length);
  bytes.writeDoubleLE(blob.seq, 0);
  bytes.write(blob.digest, 8, "hex");
  bytes.write(blob.hash, 8 + DIGEST_BYTES, "hex");
  bytes.writeUInt32LE(key.length, KEY_LENGTH_AT);
  bytes.set(key, BLOB_HEAD_BYTES);
  bytes.set(blob.bytes, BLOB_HEAD_BYTES + key.length);
  return bytes;
}

function decodeBlob(bytes: Buffer): CheckpointBlob | undefined {
  if (bytes.length < BLOB_HEAD_BYTES) return undefined;
  const keyEnd = BLOB_HEAD_BYTES + bytes.readUInt32LE(KEY_LENGTH_AT);
  if (keyEnd > bytes.length) return undefined;
  return {
    seq: bytes.readDoubleLE(0),
    digest: bytes.toString("hex", 8, 8 + DIGEST_BYTES),
    hash: bytes.toString("hex", 8 + DIGEST_BYTES, KEY_LENGTH_AT),
    key: bytes.toString("utf8", BLOB_HEAD_BYTES, keyEnd),
    bytes: bytes.subarray(keyEnd),
  };
}
