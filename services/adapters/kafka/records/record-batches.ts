/**
 * Finds the record batches (magic 2) of a fetch, and selects those that a reader of committed
 * records gets. Records are decoded only when they are read.
 *
 * WALK-1 Every offset from the requested one on belongs to a batch with data, an aborted batch, a
 *    control batch, or a batch that compaction emptied. A gap between batches means lost records.
 * WALK-2 A batch that cannot be read is listed only where its offsets are certain.
 */
import { FatalError } from "../../../runtime/errors.ts";
import { crc32c } from "./checksum.ts";
import { type AbortedTransaction, type FetchedPartition, readOffset } from "./fetch-request.ts";

export type RecordBatch = {
  readonly baseOffset: number;
  readonly lastOffset: number;
  /** Number of records. */
  readonly count: number;
  /** The broker's time, one for the whole batch. */
  readonly appendTimeMs: number;
  /** The compression (decompress.ts). */
  readonly codec: number;
  /** The records are `payload` from `from` to `to`. */
  readonly payload: Buffer;
  readonly from: number;
  readonly to: number;
  /** Why its records cannot be read; null: they can, as far as the header shows. */
  readonly problem: FatalError | null;
};

export type WalkOptions = {
  /** False: also records of aborted transactions. Default true. */
  readonly committed?: boolean;
  /**
   * False: a wrong checksum ends the walk, since another fetch may bring the batch whole. Default
   * false.
   */
  readonly listDamaged?: boolean;
  /** Append time of the record before `fromOffset`, for batches whose header does not show theirs. */
  readonly precedingMs?: number;
};

export type WalkedBatches = {
  readonly batches: readonly RecordBatch[];
  /** Where the next fetch begins. */
  readonly nextOffset: number;
  /** Why no record after `batches` can be read; `batches` themselves can. */
  readonly failure: FatalError | null;
};

const LENGTH_AT = 8;
const LENGTH_FROM = 12;
const MAGIC_AT = 16;
const CRC_AT = 17;
const CRC_FROM = 21;
const LAST_DELTA_AT = 23;
/** The batch's largest timestamp, which is the broker's time where the topic uses append time. */
const TIME_AT = 35;
const PRODUCER_AT = 43;
const COUNT_AT = 57;
const HEADER_BYTES = 61;
const MAGIC = 2;
const NO_PRODUCER = -1;

const CODEC_MASK = 7;
const APPEND_TIME = 8;
const TRANSACTIONAL = 16;
const CONTROL = 32;

/** @param fromOffset the requested offset; the first batch may begin before it. */
export function walkBatches(
  fetched: FetchedPartition,
  fromOffset: number,
  { committed = true, listDamaged = false, precedingMs = 0 }: WalkOptions = {},
): WalkedBatches {
  const { payload, to } = fetched;
  const aborted = new AbortedProducers(committed ? fetched.aborted : []);
  const batches: RecordBatch[] = [];
  let nextOffset = fromOffset;
  for (let at = fetched.from; at + MAGIC_AT < to; ) {
    const end = at + LENGTH_FROM + payload.readInt32BE(at + LENGTH_AT);
    // The size limit of the fetch cut this batch off; the next fetch brings it whole.
    if (end > to) break;
    const timeMs = batches[batches.length - 1]?.appendTimeMs ?? precedingMs;
    const read = readEntry(fetched, { at, end, nextOffset, timeMs }, listDamaged);
    if (read instanceof FatalError) return { batches, nextOffset, failure: read };
    at = end;
    if (read.batch.lastOffset < nextOffset) continue;
    nextOffset = read.batch.lastOffset + 1;
    if (aborted.take(read) && read.batch.count > 0) batches.push(read.batch);
  }
  return { batches, nextOffset, failure: null };
}

/** Id of the producer that sent the batch. */
export function producerOf({ payload, from }: RecordBatch): number {
  return readOffset(payload, from - HEADER_BYTES + PRODUCER_AT);
}

/** Sets the offset, time and checksum of the batch at the start of `payload`, as a broker does. */
export function stampBatch(payload: Buffer, baseOffset: number, appendTimeMs: number): void {
  payload.writeBigInt64BE(BigInt(baseOffset), 0);
  payload.writeInt16BE(payload.readInt16BE(CRC_FROM) | APPEND_TIME, CRC_FROM);
  payload.writeBigInt64BE(BigInt(appendTimeMs), TIME_AT);
  payload.writeUInt32BE(crc32c(payload.subarray(CRC_FROM)), CRC_AT);
}

type ReadBatch = {
  readonly batch: RecordBatch;
  readonly attributes: number;
  readonly producerId: number;
};

type Entry = {
  /** The entry is the payload from `at` to `end`. */
  readonly at: number;
  readonly end: number;
  /** The first offset that was not walked yet. */
  readonly nextOffset: number;
  readonly timeMs: number;
};

function readEntry(
  fetched: FetchedPartition,
  entry: Entry,
  listDamaged: boolean,
): ReadBatch | FatalError {
  const { at, end, nextOffset } = entry;
  const failure = checkBatch(fetched.payload, at, end, fetched);
  if (failure === null) {
    const read = readBatch(fetched.payload, at, end);
    const isPast = read.batch.lastOffset < nextOffset;
    return (isPast ? null : findProblem(fetched, read, nextOffset)) ?? read;
  }
  const isListed = listDamaged || failure.code === "log_unreadable";
  const batch = isListed ? unreadableBatch(fetched, entry, failure) : null;
  return batch === null ? failure : { batch, attributes: 0, producerId: NO_PRODUCER };
}

function readBatch(payload: Buffer, at: number, end: number): ReadBatch {
  const baseOffset = readOffset(payload, at);
  const attributes = payload.readInt16BE(at + CRC_FROM);
  const batch = {
    baseOffset,
    lastOffset: baseOffset + payload.readInt32BE(at + LAST_DELTA_AT),
    count: payload.readInt32BE(at + COUNT_AT),
    appendTimeMs: readOffset(payload, at + TIME_AT),
    codec: attributes & CODEC_MASK,
    payload,
    from: at + HEADER_BYTES,
    to: end,
    problem: null,
  };
  return { batch, attributes, producerId: readOffset(payload, at + PRODUCER_AT) };
}

function checkBatch(
  payload: Buffer,
  at: number,
  end: number,
  fetched: FetchedPartition,
): FatalError | null {
  const magic = payload[at + MAGIC_AT];
  if (magic !== MAGIC) {
    const text = `${where(fetched)}: records of format ${magic}, and only format 2 can be read`;
    return new FatalError("log_unreadable", text, { context: context(fetched, payload, at) });
  }
  if (end < at + HEADER_BYTES) {
    const text = `${where(fetched)}: a record batch is shorter than its header`;
    return new FatalError("log_corrupt", text, { context: context(fetched, payload, at) });
  }
  const checksum = crc32c(payload.subarray(at + CRC_FROM, end));
  if (checksum === payload.readUInt32BE(at + CRC_AT)) return null;
  const text = `${where(fetched)}: the checksum of a record batch is wrong`;
  return new FatalError("log_corrupt", text, { context: context(fetched, payload, at) });
}

/** Null where the offsets of its records are not certain (WALK-2). */
function unreadableBatch(
  { payload, to }: FetchedPartition,
  { at, end, nextOffset, timeMs }: Entry,
  problem: FatalError,
): RecordBatch | null {
  const common = { appendTimeMs: timeMs, codec: 0, payload, from: at, to: end, problem };
  const stated = readOffset(payload, at);
  if ((payload[at + MAGIC_AT] ?? 0) < MAGIC) {
    // Before format 2, an entry has the offset of its last record.
    return {
      ...common,
      baseOffset: nextOffset,
      lastOffset: stated,
      count: stated - nextOffset + 1,
    };
  }
  if (end < at + HEADER_BYTES) return null;
  const count = payload.readInt32BE(at + COUNT_AT);
  const lastOffset = stated + payload.readInt32BE(at + LAST_DELTA_AT);
  const follows = end + LENGTH_AT > to ? lastOffset + 1 : readOffset(payload, end);
  // The header is damaged or unknown: it must agree with itself and with what follows.
  const isCertain =
    count > 0 &&
    lastOffset === stated + count - 1 &&
    stated <= nextOffset &&
    follows === lastOffset + 1;
  return isCertain ? { ...common, baseOffset: stated, lastOffset, count } : null;
}

function findProblem(
  fetched: FetchedPartition,
  { batch, attributes }: ReadBatch,
  expected: number,
): FatalError | null {
  const { baseOffset, lastOffset, count } = batch;
  const lost = count > 0 && count !== lastOffset - baseOffset + 1;
  if (baseOffset > expected || lost) {
    return new FatalError(
      "input_out_of_reach",
      `${where(fetched)}: the records from ${expected} to ${baseOffset} are missing: ` +
        "the topic must be neither compacted nor truncated",
      { context: { offset: expected, actual: baseOffset } },
    );
  }
  if ((attributes & (APPEND_TIME | CONTROL)) !== 0 || count === 0) return null;
  return new FatalError(
    "log_mismatch",
    `${where(fetched)}: the record at ${baseOffset} has its sender's time: set ` +
      "message.timestamp.type=LogAppendTime on the topic and write it anew from its start",
    { context: { offset: baseOffset } },
  );
}

/** The producers whose current transaction was aborted, at the position of the latest batch. */
class AbortedProducers {
  readonly #waiting: readonly AbortedTransaction[];
  readonly #open = new Set<number>();
  #at = 0;

  /** @param listed in the order in which they ended, as a broker lists them. */
  constructor(listed: readonly AbortedTransaction[]) {
    this.#waiting =
      listed.length < 2 ? listed : [...listed].sort((a, b) => a.firstOffset - b.firstOffset);
  }

  /** True where the batch holds committed records. */
  take({ batch, attributes, producerId }: ReadBatch): boolean {
    for (let next = this.#waiting[this.#at]; next !== undefined; next = this.#waiting[this.#at]) {
      if (next.firstOffset > batch.lastOffset) break;
      this.#open.add(next.producerId);
      this.#at += 1;
    }
    if ((attributes & CONTROL) !== 0) {
      // A producer has one transaction at a time, and a control batch ends it.
      this.#open.delete(producerId);
      return false;
    }
    return (attributes & TRANSACTIONAL) === 0 || !this.#open.has(producerId);
  }
}

function where({ topic, partition }: FetchedPartition): string {
  return `\`${topic}\` partition ${partition}`;
}

function context(
  { topic, partition }: FetchedPartition,
  payload: Buffer,
  at: number,
): Readonly<Record<string, string | number>> {
  return { topic, partition, offset: readOffset(payload, at) };
}
