import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { RetryableError } from "../../runtime/errors.ts";
import type {
  Checkpoint,
  CheckpointBlob,
  CheckpointHeader,
  CheckpointSaved,
  CheckpointStore,
  CheckpointUpdate,
  LoadedCheckpoint,
  SeenCheckpoint,
} from "../../runtime/ports.ts";
import type { RedisClient } from "./redis-client.ts";
import { checkpointKey, type RedisScope } from "./redis-scope.ts";
import { SAVE_SCRIPT } from "./save-script.ts";
import { type SaveStep, stepsOf } from "./save-steps.ts";

export type RedisCheckpointsOptions = {
  readonly client: RedisClient;
  readonly scope: RedisScope;
  /** Longest load; a replay of the journal is faster than a longer one. */
  readonly loadMsMax: number;
};

/** The state of a partition's hash when this store last saw it. */
type LastSeen = {
  readonly mark: string | null;
  readonly offset: number;
  /** Tokens of saves since then whose outcome is unknown. */
  readonly unknownSaves: readonly string[];
};

type Meta = {
  readonly mark: string | null;
  readonly header: string | null;
  readonly count: number;
  readonly digestSum: string;
  readonly unfinished: boolean;
  /** True while a save has begun and not ended. */
  readonly isSaving: boolean;
  /** Changes with every step of any save. */
  readonly version: string;
};

const SCAN_COUNT = 200;
const READS_MAX = 3;
/** A save without a step for this time has no writer any more. */
const SAVE_IDLE_MS_MAX = 1_000;
const SAVE_POLL_MS = 50;
const SAVE_WAIT_MS_MAX = 5_000;
const DIGEST_BYTES = 32;
const NEVER_SEEN: LastSeen = { mark: null, offset: -1, unknownSaves: [] };
const META_FIELDS = ["m", "w", "i", "h", "n", "s", "u"] as const;

/**
 * Checkpoints on a Redis server: one hash for each partition (redis-scope.ts), which
 * exists or is lost as a whole, and is on one node. save-script.ts describes its fields.
 */
export class RedisCheckpoints implements CheckpointStore {
  readonly #options: RedisCheckpointsOptions;
  readonly #lastSeen = new Map<number, LastSeen>();

  constructor(options: RedisCheckpointsOptions) {
    this.#options = options;
  }

  async load(partition: number): Promise<LoadedCheckpoint> {
    const untilMs = performance.now() + this.#options.loadMsMax;
    for (let read = 1; ; read += 1) {
      const { loaded, isConsistent } = await this.#read(partition, untilMs);
      if (!isConsistent && read < READS_MAX) {
        await this.#untilSaved(partition);
        continue;
      }
      const offset = loaded.checkpoint?.header.journalOffset ?? -1;
      this.#lastSeen.set(partition, { mark: loaded.mark, offset, unknownSaves: [] });
      if (isConsistent) return loaded;
      return { ...loaded, checkpoint: null, problem: "it was written while it was read" };
    }
  }

  async look(partition: number): Promise<SeenCheckpoint> {
    const { mark, header, unfinished } = await this.#meta(partition);
    const read = header === null || unfinished ? undefined : parseHeader(header);
    this.#lastSeen.set(partition, { mark, offset: read?.journalOffset ?? -1, unknownSaves: [] });
    return { mark, header: read ?? null };
  }

  async save(
    partition: number,
    update: CheckpointUpdate,
    expectedMark: string | null,
  ): Promise<CheckpointSaved> {
    const token = randomUUID();
    const lastSeen = this.#lastSeen.get(partition) ?? NEVER_SEEN;
    for (const step of stepsOf(update)) {
      const [type, text] = await this.#step(partition, update, step, {
        token,
        lastSeen,
        expectedMark,
      });
      const mark = text === "" ? null : text;
      if (type !== "saved") {
        this.#lastSeen.set(partition, { mark, offset: -1, unknownSaves: [] });
        return { type: "stale", mark };
      }
      if (step.last) {
        const offset = update.header.journalOffset;
        this.#lastSeen.set(partition, { mark, offset, unknownSaves: [] });
        return { type: "saved", mark };
      }
      await update.pace?.rest(step.workedMs);
    }
    throw new RetryableError("checkpoint_unavailable", "a save had no last step");
  }

  async #step(
    partition: number,
    update: CheckpointUpdate,
    step: SaveStep,
    save: {
      readonly token: string;
      readonly lastSeen: LastSeen;
      readonly expectedMark: string | null;
    },
  ): Promise<readonly [string, string]> {
    const { token, lastSeen, expectedMark } = save;
    const { header, replace } = update;
    const savedOffset =
      lastSeen.mark !== null && lastSeen.mark === expectedMark ? lastSeen.offset : -1;
    const parameters = [
      expectedMark ?? "",
      `,${lastSeen.unknownSaves.join(",")},`,
      token,
      step.index,
      flag(replace),
      flag(step.last),
      flag(step.partial),
      header.topicId,
      header.journalOffset,
      savedOffset,
      step.last ? JSON.stringify(header) : "",
      step.blobs.length,
      ...step.blobs.flatMap((blob) => [blobField(blob.key), encodeBlob(blob)]),
      ...step.removals.map(blobField),
    ];
    try {
      return await this.#options.client.ask(
        (redis) =>
          redis.eval(SAVE_SCRIPT, 1, this.#key(partition), ...parameters) as Promise<
            readonly [string, string]
          >,
      );
    } catch (error) {
      // The server may have run the step all the same.
      const unknownSaves = [...lastSeen.unknownSaves, token].slice(-UNKNOWN_SAVES_MAX);
      this.#lastSeen.set(partition, { ...lastSeen, unknownSaves });
      throw error;
    }
  }

  /**
   * Waits until no save is in progress: a read between two saves of a live owner is consistent.
   */
  async #untilSaved(partition: number): Promise<void> {
    const startedMs = performance.now();
    let seen = await this.#meta(partition);
    let changedMs = startedMs;
    for (let nowMs = startedMs; seen.isSaving; nowMs = performance.now()) {
      if (nowMs - changedMs > SAVE_IDLE_MS_MAX || nowMs - startedMs > SAVE_WAIT_MS_MAX) return;
      await sleep(SAVE_POLL_MS);
      const next = await this.#meta(partition);
      if (next.version !== seen.version) changedMs = performance.now();
      seen = next;
    }
  }

  async #read(
    partition: number,
    untilMs: number,
  ): Promise<{ readonly loaded: LoadedCheckpoint; readonly isConsistent: boolean }> {
    const before = await this.#meta(partition);
    const { mark, header, count, digestSum } = before;
    const without = (problem: string | null) => ({
      loaded: { mark, checkpoint: null, problem },
      isConsistent: true,
    });
    if (mark === null) return without(null);
    if (before.unfinished) return without("it was not finished");
    const parsed = header === null ? undefined : parseHeader(header);
    if (parsed === undefined) return without("its header cannot be read");
    const blobs = await this.#blobs(partition, untilMs);
    const after = await this.#meta(partition);
    if (after.version !== before.version) {
      return { loaded: { mark: after.mark, checkpoint: null, problem: null }, isConsistent: false };
    }
    if (blobs === undefined) return without("one of its conversations cannot be read");
    const checkpoint: Checkpoint = { header: parsed, count, digestSum, blobs };
    return { loaded: { mark, checkpoint, problem: null }, isConsistent: true };
  }

  async #meta(partition: number): Promise<Meta> {
    const { client } = this.#options;
    const key = this.#key(partition);
    const type = await client.ask((redis) => redis.type(key));
    if (type !== "hash") return noHash(type === "none" ? null : `type:${type}`);
    const fields = await client.ask((redis) => redis.hmgetBuffer(key, ...META_FIELDS));
    const [mark, token, step, header, count, sum, unfinished] = fields.map(
      (field) => field ?? null,
    );
    const begun = token === null || token === undefined ? null : `w:${token.toString()}`;
    return {
      mark: mark?.toString() ?? begun ?? "type:hash",
      header: header?.toString() ?? null,
      count: Number(count?.toString() ?? Number.NaN),
      digestSum: sum?.length === DIGEST_BYTES ? sum.toString("hex") : "",
      // A save into an empty hash: no header of an earlier checkpoint exists.
      unfinished: unfinished !== null || (mark === null && token !== null),
      isSaving: token !== null,
      version: [mark, token, step, count, sum].map((one) => one?.toString("hex")).join(),
    };
  }

  /** Undefined where a field cannot be decoded. */
  async #blobs(partition: number, untilMs: number): Promise<readonly CheckpointBlob[] | undefined> {
    const key = this.#key(partition);
    // A scan may return a field twice.
    const blobs = new Map<string, CheckpointBlob>();
    let isWhole = true;
    let cursor = "0";
    do {
      if (performance.now() > untilMs) {
        throw new RetryableError("checkpoint_unavailable", "the checkpoint took too long to load");
      }
      const from = cursor;
      const [next, entries] = await this.#options.client.ask((redis) =>
        redis.hscanBuffer(key, from, "COUNT", SCAN_COUNT),
      );
      for (let at = 0; at + 1 < entries.length; at += 2) {
        const field = entries[at];
        const value = entries[at + 1];
        if (field === undefined || value === undefined || !isBlobField(field)) continue;
        const blob = decodeBlob(field, value);
        if (blob === undefined) isWhole = false;
        else blobs.set(blob.key, blob);
      }
      cursor = next.toString();
    } while (cursor !== "0");
    return isWhole ? [...blobs.values()] : undefined;
  }

  #key(partition: number): string {
    return checkpointKey(this.#options.scope, partition);
  }
}

const UNKNOWN_SAVES_MAX = 16;

function flag(value: boolean): string {
  return value ? "1" : "0";
}

function noHash(mark: string | null): Meta {
  const rest = { header: null, count: 0, digestSum: "", unfinished: false, isSaving: false };
  return { mark, ...rest, version: mark ?? "" };
}

function parseHeader(text: string): CheckpointHeader | undefined {
  try {
    const header = JSON.parse(text) as CheckpointHeader;
    return typeof header?.seq === "number" && typeof header.next === "object" ? header : undefined;
  } catch {
    return undefined;
  }
}

/** Prefix of a conversation's field. Its value begins with the digest, which the script reads. */
const PREFIX = "c:";
const HASH_AT = DIGEST_BYTES;
const SEQ_AT = HASH_AT + DIGEST_BYTES;
const HEAD_BYTES = SEQ_AT + 8;

function blobField(key: string): string {
  return PREFIX + key;
}

function isBlobField(field: Buffer): boolean {
  return field.toString("latin1", 0, PREFIX.length) === PREFIX;
}

function encodeBlob(blob: CheckpointBlob): Buffer {
  const bytes = Buffer.alloc(HEAD_BYTES + blob.bytes.length);
  bytes.write(blob.digest, 0, "hex");
  bytes.write(blob.hash, HASH_AT, "hex");
  bytes.writeDoubleLE(blob.seq, SEQ_AT);
  bytes.set(blob.bytes, HEAD_BYTES);
  return bytes;
}

/** Undefined where the bytes are too short for a conversation. */
function decodeBlob(field: Buffer, bytes: Buffer): CheckpointBlob | undefined {
  if (bytes.length < HEAD_BYTES) return undefined;
  return {
    key: field.toString("utf8", PREFIX.length),
    seq: bytes.readDoubleLE(SEQ_AT),
    hash: bytes.toString("hex", HASH_AT, SEQ_AT),
    digest: bytes.toString("hex", 0, HASH_AT),
    bytes: bytes.subarray(HEAD_BYTES),
  };
}
