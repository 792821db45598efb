/**
 * Reads the journal of a remote gate, in the partitions that somebody asked for. It needs no
 * consumer group: it starts where the journal ended at the time of the request.
 */
import { classify } from "../../runtime/errors.ts";
import type { CommittedRecord } from "../../runtime/journal.ts";
import type { Clock, Codec, Log, WaitPosition } from "../../runtime/ports.ts";
import { journalRecordOf } from "../../runtime/read-journal.ts";
import { JOURNAL_TOPIC } from "../../runtime/topics.ts";
import type { JournalListener } from "../gate-link.ts";

const READ_LIMITS = { recordsMax: 1_000, bytesMax: 4 * 1024 * 1024 };
const WAIT_MS = 30_000;
const BACKOFF_MS_MIN = 50;
const BACKOFF_MS_MAX = 2_000;

export type JournalFollowerParts = {
  readonly log: Log;
  readonly codec: Pick<Codec, "decodeJournal" | "pending">;
  readonly clock: Clock;
  readonly notify: JournalListener;
  /** Called when the log can no longer be read at all. */
  readonly lost: (error: unknown) => void;
};

export class JournalFollower {
  readonly #parts: JournalFollowerParts;
  /** Offset to read next, by partition. */
  readonly #next = new Map<number, number>();
  readonly #starting = new Map<number, Promise<void>>();
  readonly #abort = new AbortController();
  #wake = new AbortController();
  #reading: Promise<void> | undefined;
  #problem: string | undefined;

  constructor(parts: JournalFollowerParts) {
    this.#parts = parts;
  }

  /** Why the latest read of the journal failed; undefined if it succeeded. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** @throws PipelineError if the end of the journal cannot be determined. */
  async follow(partition: number): Promise<void> {
    if (this.#next.has(partition)) return;
    const pending = this.#starting.get(partition);
    if (pending !== undefined) return await pending;
    const starting = this.#start(partition);
    this.#starting.set(partition, starting);
    try {
      await starting;
    } finally {
      this.#starting.delete(partition);
    }
  }

  async close(): Promise<void> {
    this.#abort.abort();
    this.#wake.abort();
    await this.#reading;
  }

  async #start(partition: number): Promise<void> {
    this.#next.set(partition, await this.#parts.log.endOffset(JOURNAL_TOPIC, partition));
    this.#wake.abort();
    this.#reading ??= this.#read();
  }

  async #read(): Promise<void> {
    let backoffMs = BACKOFF_MS_MIN;
    while (!this.#abort.signal.aborted) {
      try {
        this.#wake = new AbortController();
        const counts = await Promise.all([...this.#next.keys()].map((one) => this.#readNew(one)));
        backoffMs = BACKOFF_MS_MIN;
        this.#problem = undefined;
        if (counts.every((count) => count === 0)) await this.#wait();
      } catch (error) {
        if (this.#abort.signal.aborted) return;
        if (classify(error) !== "retry") return this.#parts.lost(error);
        this.#problem = error instanceof Error ? error.message : String(error);
        await this.#parts.clock.sleep(backoffMs, this.#abort.signal);
        backoffMs = Math.min(backoffMs * 2, BACKOFF_MS_MAX);
      }
    }
  }

  async #readNew(partition: number): Promise<number> {
    const { log, codec, notify } = this.#parts;
    const from = this.#next.get(partition) ?? 0;
    const { records, nextOffset } = await log.read(JOURNAL_TOPIC, partition, from, READ_LIMITS);
    const committed: CommittedRecord[] = [];
    for (const one of records) {
      const { offset, appendTimeMs, value } = one;
      if (value === null) continue;
      const record = await journalRecordOf(codec, partition, one);
      committed.push({ offset, appendTimeMs, record });
    }
    this.#next.set(partition, Math.max(from, nextOffset));
    if (committed.length > 0) notify(committed, partition);
    return nextOffset - from;
  }

  async #wait(): Promise<void> {
    const positions = [...this.#next].map(
      ([partition, offset]): WaitPosition => ({ topic: JOURNAL_TOPIC, partition, offset }),
    );
    await this.#parts.log.waitForNew(positions, WAIT_MS, this.#wake.signal);
  }
}
