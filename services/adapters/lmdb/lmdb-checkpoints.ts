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
import { makeNameKey } from "./keys.ts";

type Stored = {
  readonly header: CheckpointHeader;
  readonly count: number;
  readonly digestSum: string;
  /** Grows with each new header; the mark is made of it. */
  readonly generation: number;
  /** True during a save that replaces everything: the stored blobs are no checkpoint. */
  readonly unfinished: boolean;
};

type Totals = { readonly count: number; readonly digestSum: string };

/** Size of a transaction of a save; commits run between two of them. */
const STEP_BYTES = 512 * 1024;
/** Size while decisions are made: encoding and writing it takes about as long as a flush. */
const PACED_STEP_BYTES = 48 * 1024;
const NOTHING: Totals = { count: 0, digestSum: ZERO_DIGEST };
const DIGEST_BYTES = 32;
const KEY_LENGTH_AT = 8 + 2 * DIGEST_BYTES;
const BLOB_HEAD_BYTES = KEY_LENGTH_AT + 4;

/**
 * Checkpoints in the store of the log: one header for each partition, and one blob for each
 * conversation, keyed by partition and conversation. Count and sum match the blobs after each step.
 */
export class LmdbCheckpoints implements CheckpointStore {
  readonly #environment: Environment;

  constructor(environment: Environment) {
    this.#environment = environment;
  }

  async load(partition: number): Promise<LoadedCheckpoint> {
    return this.#environment.view(() => {
      const bytes = this.#environment.tables.byName.get(headerKey(partition));
      if (bytes === undefined) return { mark: null, checkpoint: null, problem: null };
      const stored = parseStored(bytes);
      const mark = markOf(bytes, stored);
      if (stored === undefined || stored.unfinished) {
        const problem = stored === undefined ? "its header cannot be read" : "it was not finished";
        return { mark, checkpoint: null, problem };
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
    const blobs = update.upserts[Symbol.iterator]();
    for (let first = true; ; first = false) {
      const startedMs = performance.now();
      const isPaced = update.pace?.inHaste === false;
      const { step, last } = nextStep(blobs, isPaced ? PACED_STEP_BYTES : STEP_BYTES);
      const saved = this.#environment.transact(() =>
        this.#save(partition, update, expectedMark, { blobs: step, first, last }),
      );
      if (saved.type === "stale" || last) return saved;
      if (isPaced) await update.pace?.rest(performance.now() - startedMs);
      else await new Promise((resolve) => setImmediate(resolve));
    }
  }

  #save(
    partition: number,
    update: CheckpointUpdate,
    expectedMark: string | null,
    step: {
      readonly blobs: readonly CheckpointBlob[];
      readonly first: boolean;
      readonly last: boolean;
    },
  ): CheckpointSaved {
    const { byName } = this.#environment.tables;
    const bytes = byName.get(headerKey(partition));
    const stored = bytes === undefined ? undefined : parseStored(bytes);
    const mark = bytes === undefined ? null : markOf(bytes, stored);
    // After the first step of a save into an empty store, the store has our own unfinished
    // header.
    const isOurs =
      mark === expectedMark || (expectedMark === null && !step.first && isBegun(stored));
    if (!isOurs) return { type: "stale", mark };
    const anew = update.replace && step.first;
    if (anew) this.#clear(partition);
    const before = stored === undefined || anew ? NOTHING : stored;
    const removals = step.last ? update.removals : [];
    const totals = this.#apply(partition, removals, step.blobs, before);
    const next = advanceHeader(stored, update, totals, step.last);
    const encoded = Buffer.from(JSON.stringify(next));
    byName.putSync(headerKey(partition), encoded);
    return { type: "saved", mark: markOf(encoded, next) };
  }

  #apply(
    partition: number,
    removals: readonly string[],
    upserts: readonly CheckpointBlob[],
    before: Totals,
  ): Totals {
    const { checkpoints } = this.#environment.tables;
    let { count, digestSum } = before;
    const take = (key: Buffer): void => {
      const old = checkpoints.get(key);
      if (old === undefined) return;
      digestSum = subtractDigests(digestSum, decodeBlob(old)?.digest ?? ZERO_DIGEST);
      count -= 1;
    };
    for (const conversation of removals) {
      const key = blobKey(partition, conversation);
      take(key);
      checkpoints.removeSync(key);
    }
    for (const blob of upserts) {
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
  return makeNameKey("checkpoint", partition);
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

/** The mark of an unreadable header is its own bytes. */
function markOf(bytes: Buffer, stored: Stored | undefined): string {
  return stored === undefined ? bytes.toString("base64url") : `g${stored.generation}`;
}

/** Returns the header to store after a step; the update's header comes with the last step. */
function advanceHeader(
  stored: Stored | undefined,
  update: CheckpointUpdate,
  totals: Totals,
  last: boolean,
): Stored {
  const generation = stored?.generation ?? 0;
  if (last)
    return { header: update.header, ...totals, generation: generation + 1, unfinished: false };
  const unfinished = update.replace || stored?.unfinished === true;
  return { header: stored?.header ?? update.header, ...totals, generation, unfinished };
}

function isBegun(stored: Stored | undefined): boolean {
  return stored?.generation === 0 && stored.unfinished;
}

function nextStep(
  blobs: Iterator<CheckpointBlob>,
  stepBytes: number,
): {
  readonly step: readonly CheckpointBlob[];
  readonly last: boolean;
} {
  const step: CheckpointBlob[] = [];
  let bytes = 0;
  while (bytes < stepBytes) {
    const { value, done } = blobs.next();
    if (done === true) return { step, last: true };
    step.push(value);
    bytes += value.bytes.length;
  }
  return { step, last: false };
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
