/**
 * Reads the journal and the alerts from where the store says, and stores what each target hears of.
 *
 * FOLLOW-1 a position is stored together with the deliveries derived up to it, so a crash neither
 *    loses nor adds one.
 * FOLLOW-2 where nothing was derived the position may be stored later: reading again derives
 *    nothing again. So an idle target costs no write for each decision.
 */
import type {
  DeliveryStore,
  NewDelivery,
  StoredPosition,
} from "../adapters/lmdb/delivery-store.ts";
import { asPipelineError, RetryableError } from "../runtime/errors.ts";
import type { Clock, Codec, Log, Logger, LogRecord } from "../runtime/ports.ts";
import { journalRecordOf } from "../runtime/read-journal.ts";
import { JOURNAL_TOPIC, type Topic } from "../runtime/topics.ts";
import type { ClientCodec } from "../wire/codec.ts";
import { alertEvent, deriveEvents } from "./derive-events.ts";
import type { NotifyEvent } from "./notify-event.ts";
import type { Target } from "./target.ts";

const READ_LIMITS = { recordsMax: 1_000, bytesMax: 4 * 1024 * 1024 };
const WAIT_MS = 1_000;
const RETRY_MS_MIN = 250;
const RETRY_MS_MAX = 5_000;
/** Least time between two writes of positions alone. */
const SAVE_EVERY_MS = 1_000;

export type FollowParts = {
  readonly log: Log;
  readonly codec: Pick<Codec, "decodeJournal" | "pending"> & Pick<ClientCodec, "decodeAlert">;
  readonly store: DeliveryStore<NotifyEvent>;
  readonly targets: readonly Target[];
  readonly clock: Clock;
  readonly logger: Logger;
  /** Called before each write. @throws where another process owns the directory. */
  readonly check: () => void;
  /** Called with how many records could not be read. */
  readonly skipped: (records: number) => void;
  /**
   * Called when the store has new deliveries, with how many dead ones of which targets were dropped
   * for them.
   */
  readonly added: (dropped: ReadonlyMap<string, number>) => void;
};

export type FollowedPartition = {
  readonly topic: Topic;
  readonly partition: number;
  readonly nextOffset: number;
  readonly endOffset: number;
};

type Track = { topic: Topic; partition: number; offset: number; end: number; saved: number };

export class LogFollower {
  readonly #parts: FollowParts;
  readonly #abort = new AbortController();
  #tracks: readonly Track[] = [];
  #savedAtMs = 0;
  #readAtMs: number | null = null;

  constructor(parts: FollowParts) {
    this.#parts = parts;
  }

  /** When everything was read the last time; null: it never was. */
  get readAtMs(): number | null {
    return this.#readAtMs;
  }

  get partitions(): readonly FollowedPartition[] {
    return this.#tracks.map(({ topic, partition, offset, end }) => {
      return { topic, partition, nextOffset: offset, endOffset: end };
    });
  }

  /**
   * Stores where reading begins, if that is not stored yet.
   * @param from of a partition that was never read: its first record, or its end.
   */
  async begin(from: "start" | "end"): Promise<void> {
    const { log, store, clock, check, targets } = this.#parts;
    const needsAlerts = targets.some(({ events }) => events.has("alert"));
    const topics: readonly Topic[] = [JOURNAL_TOPIC, ...(needsAlerts ? ["alerts" as const] : [])];
    const tracks: Track[] = [];
    for (const topic of topics) {
      for (let partition = 0; partition < log.partitions; partition += 1) {
        const offset = await this.#firstOffset(topic, partition, from);
        tracks.push({ topic, partition, offset, end: offset, saved: offset });
      }
    }
    check();
    store.commit(tracks.map(positionOf), [], clock.nowMs());
    this.#tracks = tracks;
  }

  /** Runs until `stop`. @throws PipelineError where log or store can no longer be used. */
  async run(): Promise<void> {
    let waitMs = RETRY_MS_MIN;
    while (!this.#abort.signal.aborted) {
      try {
        await this.#readOn();
        waitMs = RETRY_MS_MIN;
      } catch (error) {
        if (!(error instanceof RetryableError)) throw error;
        const { code, message } = error;
        this.#parts.logger.warn("the notifier waits for the log", { code, message });
        await this.#parts.clock.sleep(waitMs, this.#abort.signal);
        waitMs = Math.min(waitMs * 2, RETRY_MS_MAX);
      }
    }
  }

  /** `run` ends, and positions are stored. */
  stop(): void {
    this.#abort.abort();
  }

  /** Stores the positions of records that nobody hears of. (FOLLOW-2) */
  save(): void {
    const moved = this.#tracks.filter(({ offset, saved }) => offset !== saved);
    if (moved.length === 0) return;
    this.#commit(moved, []);
  }

  async #firstOffset(topic: Topic, partition: number, from: "start" | "end"): Promise<number> {
    const { log, store, logger } = this.#parts;
    const stored = store.position(topic, partition);
    const endOffset = await log.endOffset(topic, partition);
    if (stored === undefined) {
      return from === "end" ? endOffset : await log.startOffset(topic, partition);
    }
    if (stored <= endOffset) return stored;
    // What follows its end gets offsets that were read once already.
    const what = { topic, partition, readTo: stored, endOffset };
    logger.error("the log was set back to before what was read: reading begins at its end", what);
    return endOffset;
  }

  async #readOn(): Promise<void> {
    const { log, clock } = this.#parts;
    const moved = await Promise.all(this.#tracks.map((track) => this.#step(track)));
    this.#readAtMs = clock.nowMs();
    if (clock.nowMs() - this.#savedAtMs >= SAVE_EVERY_MS) this.save();
    if (moved.includes(true)) return;
    await log.waitForNew(this.#tracks.map(positionOf), WAIT_MS, this.#abort.signal);
  }

  /** Returns whether there was anything to read. */
  async #step(track: Track): Promise<boolean> {
    const { log } = this.#parts;
    const { topic, partition, offset } = track;
    try {
      const read = await log.read(topic, partition, offset, READ_LIMITS);
      const events: NotifyEvent[] = [];
      for (const record of read.records) events.push(...(await this.#eventsOf(track, record)));
      track.end = read.endOffset;
      track.offset = read.nextOffset;
      const deliveries = events.flatMap((event) => this.#deliveriesOf(event));
      if (deliveries.length > 0) this.#commit([track], deliveries);
      return read.nextOffset > offset;
    } catch (error) {
      // What was read is derived again, unless it is stored.
      track.offset = offset;
      if (asPipelineError(error).code !== "input_out_of_reach") throw error;
      return await this.#skip(track);
    }
  }

  async #eventsOf({ topic, partition }: Track, record: LogRecord): Promise<readonly NotifyEvent[]> {
    const { codec, logger, skipped } = this.#parts;
    const { offset, value } = record;
    try {
      if (topic === JOURNAL_TOPIC) {
        return deriveEvents((await journalRecordOf(codec, partition, record)).events);
      }
      if (value === null) return [];
      await codec.pending?.(value);
      return [alertEvent(codec.decodeAlert(value))];
    } catch (error) {
      const { code, message } = asPipelineError(error);
      if (error instanceof RetryableError) throw error;
      logger.error("a record cannot be read, and nobody hears of it", {
        ...{ topic, partition, offset, code, message },
      });
      skipped(1);
      return [];
    }
  }

  #deliveriesOf(event: NotifyEvent): readonly NewDelivery<NotifyEvent>[] {
    return this.#parts.targets
      .filter(({ events }) => events.has(event.word))
      .map(({ id }) => ({ target: id, event }));
  }

  async #skip(track: Track): Promise<boolean> {
    const { log, logger, skipped } = this.#parts;
    const { topic, partition, offset } = track;
    const startOffset = await log.startOffset(topic, partition);
    const what = { topic, partition, fromOffset: offset, toOffset: startOffset };
    logger.error("retention deleted records before they were read", what);
    skipped(Math.max(0, startOffset - offset));
    track.offset = startOffset;
    return startOffset > offset;
  }

  #commit(tracks: readonly Track[], deliveries: readonly NewDelivery<NotifyEvent>[]): void {
    const { store, clock, check, added } = this.#parts;
    check();
    const nowMs = clock.nowMs();
    const dropped = store.commit(tracks.map(positionOf), deliveries, nowMs);
    this.#savedAtMs = nowMs;
    for (const track of tracks) track.saved = track.offset;
    if (deliveries.length > 0) added(dropped);
  }
}

function positionOf({ topic, partition, offset }: Track): StoredPosition {
  return { topic, partition, offset };
}
