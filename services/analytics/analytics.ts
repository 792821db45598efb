/**
 * The analytics of one log: follows the journal of every partition, folds it into numbers, stores
 * it as Parquet files, and raises alerts.
 *
 * ANALYTICS-1 numbers are exported as they were last written to the state file: they never fall, and after a
 * restart nothing is counted twice.
 * ANALYTICS-2 the state file and the Parquet files each say how far they have come; reading begins at the
 * earlier one, and each takes in only the rows that it does not have.
 * ANALYTICS-3 an alert is published after the state file names it; after a crash between the two it is
 * looked up in its topic before it is published again.
 */
import { openDuck } from "../adapters/duckdb/connection.ts";
import { ParquetSegments } from "../adapters/duckdb/parquet-segments.ts";
import { type DirectoryLock, lockDirectory } from "../adapters/files/lock-directory.ts";
import { asPipelineError, FatalError, RetryableError } from "../runtime/errors.ts";
import type { CommittedRecord } from "../runtime/journal.ts";
import type { Clock, Codec, Log, Logger } from "../runtime/ports.ts";
import { JOURNAL_TOPIC } from "../runtime/topics.ts";
import { type AlertCodec, AlertOutbox } from "./alert-outbox.ts";
import { SPIKE_OPTIONS } from "./baseline.ts";
import { DECISION_COLUMNS, type DecisionRow, rowsOf } from "./decision-row.ts";
import { DecisionFold, type FoldOptions } from "./fold.ts";
import { type AnalyticsState, readState, writeState } from "./state-file.ts";
import type { TotalsData } from "./totals.ts";

export type AnalyticsParts = {
  readonly log: Log;
  readonly codec: Pick<Codec, "decodeJournal" | "pending"> & AlertCodec;
  readonly logger: Logger;
  readonly clock: Clock;
  /** Directory of the state file and the Parquet files; one process at a time. */
  readonly directory: string;
  readonly options?: Partial<AnalyticsOptions>;
  /** Called when the analytics cannot go on. */
  readonly fail: (error: unknown) => void;
};

export type AnalyticsOptions = {
  readonly fold: FoldOptions;
  /** Shortest time between two writes of the state, ms. */
  readonly persistMs: number;
  /** A Parquet file is written after so many rows, or after the time below. */
  readonly segmentRows: number;
  readonly segmentMs: number;
};

const MINUTE_MS = 60_000;

export const ANALYTICS_OPTIONS: AnalyticsOptions = {
  fold: {
    idleMs: 30 * MINUTE_MS,
    conversationsMax: 20_000,
    openCostsMax: 10_000,
    baselinesMax: 1_000,
    toolsMax: 200,
    spikes: SPIKE_OPTIONS,
  },
  persistMs: 5_000,
  segmentRows: 50_000,
  segmentMs: MINUTE_MS,
};

export type PartitionLag = {
  readonly partition: number;
  readonly nextOffset: number;
  readonly endOffset: number;
};

const READ_LIMITS = { recordsMax: 1_000, bytesMax: 4 * 1024 * 1024 };
const WAIT_MS = 1_000;
const RETRY_MS_MIN = 250;
const RETRY_MS_MAX = 5_000;
/** Largest part of the time that writing the state may take. */
const PERSIST_SHARE = 0.05;

type Segment = {
  nextOffset: number;
  writtenOffset: number;
  writtenAtMs: number;
  rows: DecisionRow[];
};

export const DECISIONS_FOLDER = "decisions";
const STATE_FILE = "analytics.json";

export class Analytics {
  readonly #parts: AnalyticsParts;
  readonly #options: AnalyticsOptions;
  readonly #fold: DecisionFold;
  readonly #outbox: AlertOutbox;
  readonly #segments: ParquetSegments;
  readonly #lock: DirectoryLock;
  readonly #close: () => void;
  readonly #abort = new AbortController();
  readonly #pending = new Map<number, Segment>();
  readonly #ends = new Map<number, number>();
  /** When each partition was last read and counted; an idle one is read as well. */
  readonly #readAtMs = new Map<number, number>();
  /**
   * When the first save since the last complete one began, because a save is under way or failed;
   * null: everything is saved.
   */
  #unkeptSinceMs: number | null = null;
  #startedAtMs = 0;
  #exported: TotalsData;
  #loops: Promise<unknown> | null = null;
  #isChanged = false;

  private constructor(
    parts: AnalyticsParts,
    state: AnalyticsState | null,
    segments: ParquetSegments,
    lock: DirectoryLock,
    close: () => void,
  ) {
    this.#parts = parts;
    this.#options = { ...ANALYTICS_OPTIONS, ...parts.options };
    this.#fold = new DecisionFold(this.#options.fold, state?.fold);
    this.#outbox = new AlertOutbox(parts.log, parts.codec, state?.outbox, state?.alertsFrom);
    this.#segments = segments;
    this.#lock = lock;
    this.#close = close;
    this.#exported = state?.fold.totals ?? {};
  }

  /**
   * @throws FatalError where the directory belongs to another log, is in use, or cannot be read.
   */
  static async open(parts: AnalyticsParts): Promise<Analytics> {
    const lock = await lockDirectory(parts.directory, "analytics", parts.clock);
    try {
      const state = readState(`${parts.directory}/${STATE_FILE}`);
      if (state !== null) assertSameLog(state, parts);
      const duck = await openDuck();
      const folder = `${parts.directory}/${DECISIONS_FOLDER}`;
      const segments = new ParquetSegments(folder, DECISION_COLUMNS, duck);
      return new Analytics(parts, state, segments, lock, () => {
        duck.close();
        lock.release();
      });
    } catch (error) {
      lock.release();
      throw error;
    }
  }

  /** The numbers as the state file has them. */
  get totals(): TotalsData {
    return this.#exported;
  }

  get openConversations(): number {
    return this.#fold.openConversations;
  }

  get lags(): readonly PartitionLag[] {
    return [...this.#ends].map(([partition, endOffset]) => ({
      ...{ partition, endOffset },
      nextOffset: this.#fold.nextOffset(partition),
    }));
  }

  /**
   * For how long counted rows have not been saved, nor their alerts published, ms; above 0 for a
   * short time during each save.
   */
  get unkeptMs(): number {
    const nowMs = this.#parts.clock.nowMs();
    return Math.max(0, nowMs - (this.#unkeptSinceMs ?? nowMs));
  }

  /** Whether every partition was read and counted at least once. */
  get hasReadAll(): boolean {
    return this.#readAtMs.size === this.#parts.log.partitions;
  }

  /**
   * Time since the last read, ms, of the partition that waits longest; before its first read, since
   * the start.
   */
  get unreadMs(): number {
    const sinceMs = this.hasReadAll ? Math.min(...this.#readAtMs.values()) : this.#startedAtMs;
    return Math.max(0, this.#parts.clock.nowMs() - sinceMs);
  }

  start(): void {
    this.#startedAtMs = this.#parts.clock.nowMs();
    const partitions = [...Array(this.#parts.log.partitions).keys()];
    this.#loops ??= Promise.all([
      ...partitions.map((partition) => this.#guard(() => this.#follow(partition))),
      this.#guard(() => this.#keep()),
    ]);
  }

  /** Writes everything that was read, and gives the directory up. */
  async close(): Promise<void> {
    this.#abort.abort();
    await this.#loops;
    try {
      for (const partition of this.#pending.keys()) await this.#writeSegment(partition);
      await this.#persist();
    } finally {
      this.#close();
    }
  }

  async #guard(loop: () => Promise<void>): Promise<void> {
    let waitMs = RETRY_MS_MIN;
    while (!this.#abort.signal.aborted) {
      try {
        await loop();
        return;
      } catch (error) {
        if (!(error instanceof RetryableError)) {
          this.#parts.fail(error);
          return;
        }
        const { code, message } = error;
        this.#parts.logger.warn("the analytics wait for the log", { code, message });
        await this.#parts.clock.sleep(waitMs, this.#abort.signal);
        waitMs = Math.min(waitMs * 2, RETRY_MS_MAX);
      }
    }
  }

  async #follow(partition: number): Promise<void> {
    const { log } = this.#parts;
    let offset = this.#begin(partition);
    while (!this.#abort.signal.aborted) {
      offset = await this.#step(partition, offset);
      await this.#writeSegmentIfDue(partition);
      if (offset < (this.#ends.get(partition) ?? 0)) continue;
      const position = { topic: JOURNAL_TOPIC, partition, offset } as const;
      await log.waitForNew([position], WAIT_MS, this.#abort.signal);
    }
  }

  /** The offset at which reading begins: the lower one of state file and Parquet files. */
  #begin(partition: number): number {
    let segment = this.#pending.get(partition);
    if (segment === undefined) {
      const nextOffset = this.#segments.open(partition);
      const writtenAtMs = this.#parts.clock.nowMs();
      segment = { nextOffset, writtenOffset: nextOffset, writtenAtMs, rows: [] };
      this.#pending.set(partition, segment);
    }
    return Math.min(segment.nextOffset, this.#fold.nextOffset(partition));
  }

  async #step(partition: number, offset: number): Promise<number> {
    try {
      const { log } = this.#parts;
      const read = await log.read(JOURNAL_TOPIC, partition, offset, READ_LIMITS);
      this.#ends.set(partition, read.endOffset);
      for (const { value } of read.records) await this.#parts.codec.pending?.(value);
      const committed = read.records.flatMap((record) => this.#decode(partition, record));
      this.#take(partition, committed, read.nextOffset);
      if (read.nextOffset >= read.endOffset) this.#rest(partition);
      this.#readAtMs.set(partition, this.#parts.clock.nowMs());
      return read.nextOffset;
    } catch (error) {
      if (asPipelineError(error).code !== "input_out_of_reach") throw error;
      return await this.#skip(partition, offset);
    }
  }

  #decode(
    partition: number,
    record: {
      readonly offset: number;
      readonly appendTimeMs: number;
      readonly value: Uint8Array | null;
    },
  ): readonly CommittedRecord[] {
    const { offset, appendTimeMs, value } = record;
    try {
      if (value === null) throw new FatalError("log_corrupt", "the record is empty");
      return [{ offset, appendTimeMs, record: this.#parts.codec.decodeJournal(value) }];
    } catch (error) {
      const { code, message } = asPipelineError(error);
      if (error instanceof RetryableError) throw error;
      const at = { partition, offset, code, message };
      this.#parts.logger.error("a journal record cannot be read and is left out", at);
      return [];
    }
  }

  #take(partition: number, committed: readonly CommittedRecord[], nextOffset: number): void {
    const segment = this.#pending.get(partition);
    const foldFrom = this.#fold.nextOffset(partition);
    const rows: DecisionRow[] = [];
    for (const one of committed) {
      const made = rowsOf(partition, one);
      if (one.offset >= foldFrom) rows.push(...made);
      if (segment !== undefined && one.offset >= segment.nextOffset) segment.rows.push(...made);
    }
    if (segment !== undefined) segment.nextOffset = Math.max(segment.nextOffset, nextOffset);
    if (nextOffset <= foldFrom) return;
    for (const raised of this.#fold.apply(partition, rows, nextOffset)) this.#outbox.add(raised);
    this.#isChanged = true;
  }

  #rest(partition: number): void {
    const resolved = this.#fold.rest(partition, this.#parts.clock.nowMs());
    if (resolved === null) return;
    for (const alert of resolved) this.#outbox.add(alert);
    this.#isChanged = true;
  }

  async #skip(partition: number, offset: number): Promise<number> {
    const startOffset = await this.#parts.log.startOffset(JOURNAL_TOPIC, partition);
    const what = { partition, fromOffset: offset, toOffset: startOffset };
    this.#parts.logger.error("retention deleted journal records before they were read", what);
    if (startOffset > this.#fold.nextOffset(partition)) this.#fold.skip(partition, startOffset);
    const segment = this.#pending.get(partition);
    if (segment !== undefined) segment.nextOffset = Math.max(segment.nextOffset, startOffset);
    this.#isChanged = true;
    return startOffset;
  }

  async #writeSegmentIfDue(partition: number): Promise<void> {
    const segment = this.#pending.get(partition);
    if (segment === undefined || segment.rows.length === 0) return;
    const { segmentRows, segmentMs } = this.#options;
    const isOld = this.#parts.clock.nowMs() - segment.writtenAtMs >= segmentMs;
    if (isOld || segment.rows.length >= segmentRows) await this.#writeSegment(partition);
  }

  async #writeSegment(partition: number): Promise<void> {
    const segment = this.#pending.get(partition);
    if (segment === undefined) return;
    const { rows, nextOffset, writtenOffset } = segment;
    segment.writtenAtMs = this.#parts.clock.nowMs();
    if (rows.length === 0) return;
    this.#lock.check();
    await this.#segments.write(partition, rows, writtenOffset, nextOffset);
    segment.rows = [];
    segment.writtenOffset = nextOffset;
  }

  async #keep(): Promise<void> {
    const { clock } = this.#parts;
    let waitMs = this.#options.persistMs;
    while (!this.#abort.signal.aborted) {
      await clock.sleep(waitMs, this.#abort.signal);
      const startedMs = clock.nowMs();
      this.#unkeptSinceMs ??= startedMs;
      await this.#persist();
      this.#unkeptSinceMs = null;
      const tookMs = clock.nowMs() - startedMs;
      waitMs = Math.max(this.#options.persistMs, tookMs / PERSIST_SHARE);
    }
  }

  async #persist(): Promise<void> {
    if (!this.#isChanged && this.#outbox.isEmpty) return;
    this.#isChanged = false;
    await this.#outbox.prepare();
    const fold = this.#fold.data();
    const { log, directory } = this.#parts;
    this.#lock.check();
    writeState(`${directory}/${STATE_FILE}`, {
      version: 1,
      clusterId: log.clusterId,
      topicId: log.topicId(JOURNAL_TOPIC),
      fold,
      ...this.#outbox.data(),
    });
    this.#exported = fold.totals;
    if (await this.#outbox.publish()) this.#isChanged = true;
  }
}

function assertSameLog(state: AnalyticsState, { log, directory }: AnalyticsParts): void {
  const topicId = log.topicId(JOURNAL_TOPIC);
  if (state.clusterId === log.clusterId && state.topicId === topicId) return;
  throw new FatalError(
    "log_mismatch",
    `${directory} holds the analytics of another log (cluster ${state.clusterId}, topic ${state.topicId}): ` +
      "name another directory, or move it away",
  );
}
