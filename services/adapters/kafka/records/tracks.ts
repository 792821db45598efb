/**
 * Buffers what was fetched ahead for one reader of one topic-partition.
 *
 * TRACK-1 The reader gets every committed record from its first offset on, once and in order.
 * TRACK-2 An answer to a fetch from another offset than the next one is dropped.
 * TRACK-3 A failure that ends a track is thrown when everything before it has been read.
 * TRACK-4 A batch with a wrong checksum is fetched again before it counts as damaged.
 */
import { FatalError } from "../../../runtime/errors.ts";
import type { LogRecord, ReadLimits } from "../../../runtime/ports.ts";
import { type OnUnreadable, RecordCursor } from "./decode-records.ts";
import type { FetchedPartition } from "./fetch-request.ts";
import { type RecordBatch, walkBatches } from "./record-batches.ts";

/** Fetching ahead pauses at this size and resumes below half of it. */
const BUFFERED_BYTES_MAX = 2 * 1024 * 1024;
/** How often a batch with a wrong checksum is fetched. */
const DAMAGED_FETCHES_MAX = 3;

/** The end of a topic-partition as far as known, shared by all of its readers (FETCH-4). */
export class PartitionEnd {
  #offset = 0;

  get offset(): number {
    return this.#offset;
  }

  /** A fetch never lowers the end: a new leader may not know yet all that was committed. */
  raise(offset: number): void {
    this.#offset = Math.max(this.#offset, offset);
  }

  /**
   * Sets the end from an answer that a leader gives only when it knows all that was committed.
   * @param before the end when the request was sent. An answer below it means a truncated
   *   partition.
   */
  settle(offset: number, before: number): void {
    if (this.#offset === before) this.#offset = offset;
    else this.raise(offset);
  }
}

export type Taken = { readonly records: readonly LogRecord[]; readonly nextOffset: number };

export class Track {
  readonly name: string;
  readonly partition: number;
  /** True where the fetcher fetches ahead for it, and not only on a read. */
  following = false;
  /** When the poll that includes this track was sent; null: no poll includes it. */
  inFlightSinceMs: number | null = null;
  /** When a broker last answered that no more records are there. */
  atEndMs = Number.NEGATIVE_INFINITY;
  usedMs: number;
  readonly #end: PartitionEnd;
  readonly #waiting = new Set<() => void>();
  #batches: RecordBatch[] = [];
  #cursor: RecordCursor | undefined;
  #head: LogRecord | undefined;
  #bytes = 0;
  #isFull = false;
  #readFrom: number;
  #fetchFrom: number;
  #failure: FatalError | null = null;
  /** Append time of the last batch that was fetched. */
  #lastMs = 0;
  /** Fetches from the same offset that began with a wrong checksum. */
  #damagedFetches = 0;

  constructor(
    trackedPartition: {
      readonly name: string;
      readonly partition: number;
      readonly end: PartitionEnd;
    },
    fromOffset: number,
    nowMs: number,
  ) {
    this.name = trackedPartition.name;
    this.partition = trackedPartition.partition;
    this.#end = trackedPartition.end;
    this.usedMs = nowMs;
    this.#readFrom = fromOffset;
    this.#fetchFrom = fromOffset;
  }

  /** Where the reader goes on. */
  get readFrom(): number {
    return this.#readFrom;
  }

  /** Where the next fetch goes on. */
  get fetchFrom(): number {
    return this.#fetchFrom;
  }

  /** The partition's end, as far as known. */
  get end(): number {
    return Math.max(this.#end.offset, this.#fetchFrom);
  }

  /** True where a read returns records or fails for good. */
  get isReady(): boolean {
    return this.#failure !== null || this.#hasRecords;
  }

  get wantsMore(): boolean {
    if (this.#failure !== null) return false;
    if (this.#isFull && this.#bytes <= BUFFERED_BYTES_MAX / 2) this.#isFull = false;
    return !this.#isFull;
  }

  get hasWaiters(): boolean {
    return this.#waiting.size > 0;
  }

  /** Adds the answer to a fetch from `offset`. */
  feed(fetched: FetchedPartition, offset: number, nowMs: number): void {
    this.#end.raise(fetched.stableOffset);
    if (offset !== this.#fetchFrom || this.#failure !== null) return;
    const listDamaged = this.#damagedFetches >= DAMAGED_FETCHES_MAX - 1;
    const walked = walkBatches(fetched, offset, { listDamaged, precedingMs: this.#lastMs });
    const { batches, nextOffset, failure } = walked;
    for (const batch of batches) {
      this.#batches.push(batch);
      this.#bytes += batch.to - batch.from;
      this.#lastMs = batch.appendTimeMs;
    }
    this.#fetchFrom = nextOffset;
    const isDamaged = !listDamaged && failure?.code === "log_corrupt";
    this.#failure = isDamaged ? null : failure;
    this.#damagedFetches = isDamaged ? (nextOffset > offset ? 1 : this.#damagedFetches + 1) : 0;
    this.#isFull ||= this.#bytes >= BUFFERED_BYTES_MAX;
    if (nextOffset >= this.#end.offset) this.atEndMs = nowMs;
    if (this.isReady) this.wake();
  }

  /** @throws FatalError where the next record cannot be read, unless such records are marked. */
  take(limits: ReadLimits, onUnreadable: OnUnreadable): Taken {
    const records: LogRecord[] = [];
    try {
      this.#takeInto(records, limits, onUnreadable);
    } catch (error) {
      if (!(error instanceof FatalError)) throw error;
      this.#batches = [];
      this.#cursor = undefined;
      this.#failure = error;
    }
    const last = records[records.length - 1];
    if (this.#hasRecords && last !== undefined) {
      this.#readFrom = last.offset + 1;
    } else {
      if (records.length === 0 && this.#failure !== null) throw this.#failure;
      this.#readFrom = this.#fetchFrom;
    }
    return { records, nextOffset: this.#readFrom };
  }

  /**
   * Calls back when the track is ready, or a fetch failed. Returns a function that unsubscribes.
   */
  onReady(callback: () => void): () => void {
    this.#waiting.add(callback);
    return () => this.#waiting.delete(callback);
  }

  wake(): void {
    for (const callback of [...this.#waiting]) callback();
  }

  get #hasRecords(): boolean {
    return this.#head !== undefined || this.#cursor !== undefined || this.#batches.length > 0;
  }

  #takeInto(records: LogRecord[], limits: ReadLimits, onUnreadable: OnUnreadable): void {
    let bytes = 0;
    for (let head = this.#peek(onUnreadable); head; head = this.#peek(onUnreadable)) {
      bytes += (head.key?.length ?? 0) + (head.value?.length ?? 0);
      const isFull = records.length >= limits.recordsMax || bytes > limits.bytesMax;
      if (isFull && records.length > 0) return;
      records.push(head);
      this.#head = undefined;
    }
  }

  #peek(onUnreadable: OnUnreadable): LogRecord | undefined {
    while (this.#head === undefined) {
      const cursor = this.#cursor ?? this.#open(onUnreadable);
      if (cursor === undefined) return undefined;
      const record = cursor.next();
      if (cursor.isDone) this.#cursor = undefined;
      // A batch may begin before the requested offset.
      if (record.offset >= this.#readFrom) this.#head = record;
    }
    return this.#head;
  }

  #open(onUnreadable: OnUnreadable): RecordCursor | undefined {
    // Removed from the list at once, since a batch retains the whole answer that it came with.
    const batch = this.#batches.shift();
    if (batch === undefined) return undefined;
    this.#bytes -= batch.to - batch.from;
    this.#cursor = new RecordCursor(batch, onUnreadable);
    return this.#cursor;
  }
}

/** A track without a read for this time is dropped with its buffer. */
const IDLE_MS_MAX = 5_000;
const SWEEP_MS = 1_000;
/** Most readers of one topic-partition at different offsets. */
const TRACKS_MAX = 16;

/** The tracks of a log, by topic-partition and by the next offset of their readers. */
export class Tracks {
  readonly #byPartition = new Map<string, Track[]>();
  /** One for each topic-partition; they outlive the tracks. */
  readonly #ends = new Map<string, PartitionEnd>();
  readonly #nowMs: () => number;
  readonly #sweep: NodeJS.Timeout;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
    this.#sweep = setInterval(() => this.#dropIdle(), SWEEP_MS).unref();
  }

  *all(): Iterable<Track> {
    for (const group of this.#byPartition.values()) yield* group;
  }

  /** Returns the track whose reader is at the offset, or a new one. */
  at(name: string, partition: number, offset: number): { track: Track; isNew: boolean } {
    const partitionKey = `${partition} ${name}`;
    const group = this.#byPartition.get(partitionKey) ?? [];
    const nowMs = this.#nowMs();
    const existing = group.find(({ readFrom }) => readFrom === offset);
    if (existing !== undefined) {
      existing.usedMs = nowMs;
      return { track: existing, isNew: false };
    }
    const end = this.endOf(name, partition);
    const track = new Track({ name, partition, end }, offset, nowMs);
    const remaining =
      group.length < TRACKS_MAX ? group : group.filter(({ hasWaiters }) => hasWaiters);
    this.#byPartition.set(partitionKey, [...remaining, track]);
    return { track, isNew: true };
  }

  /** The end that all present and later readers of a topic-partition share. */
  endOf(name: string, partition: number): PartitionEnd {
    const partitionKey = `${partition} ${name}`;
    let end = this.#ends.get(partitionKey);
    if (end === undefined) {
      end = new PartitionEnd();
      this.#ends.set(partitionKey, end);
    }
    return end;
  }

  /** Drops all tracks, and wakes their readers. */
  close(): void {
    clearInterval(this.#sweep);
    const tracks = [...this.all()];
    this.#byPartition.clear();
    for (const track of tracks) track.wake();
  }

  #dropIdle(): void {
    const sinceMs = this.#nowMs() - IDLE_MS_MAX;
    for (const [partitionKey, group] of this.#byPartition) {
      const remaining = group.filter(({ hasWaiters, usedMs }) => hasWaiters || usedMs > sinceMs);
      if (remaining.length === 0) this.#byPartition.delete(partitionKey);
      else if (remaining.length < group.length) this.#byPartition.set(partitionKey, remaining);
    }
  }
}
