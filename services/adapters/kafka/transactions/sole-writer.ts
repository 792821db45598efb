/**
 * Detects another writer of a journal that must have one. Gates of one `kafka.app` and group fence
 * each other. Gates of another app or group do not, and each would decide every call once more. The
 * offsets show it: a transaction takes one for each of its records and one for its end marker. A
 * larger gap between two transactions means a second end marker, which a failure can cause, or
 * records of another writer.
 *
 * SOLE-1 Every gap between the journal's end at the take-over and our newest record is read. A gap
 *    begins right behind our previous record: where transactions overlap, another writer's record
 *    is at the offset where our end marker would be.
 * SOLE-2 A read decides a gap if it returns a record, or ends behind the gap. A read that fails, or
 *    ends before because the other transaction is open, is repeated.
 * SOLE-3 The part of a gap that retention has deleted is skipped. A writer that is still active
 *    shows in a later gap, and one that has stopped does no harm.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { asPipelineError } from "../../../runtime/errors.ts";
import type { Appended, Log, OutgoingRecord } from "../../../runtime/ports.ts";
import { JOURNAL_TOPIC } from "../../../runtime/topics.ts";

/** Offsets that the end marker of a transaction takes. */
const END_MARKERS = 1;
const ONE_RECORD = { recordsMax: 1, bytesMax: 1 };
const RETRY_MS = 100;
/** Gaps that wait to be read. Further ones are dropped: an active writer leaves new gaps later. */
const GAPS_MAX = 1_000;

/** Offsets from `from`, inclusive, to `to`, exclusive. */
type Gap = { readonly from: number; readonly to: number };

export type SoleWriterParts = {
  readonly journal: Pick<Log, "read" | "startOffset">;
  readonly partition: number;
  /** The journal's end after the previous owner was fenced. */
  readonly end: number;
};

export class SoleWriter {
  readonly #journal: Pick<Log, "read" | "startOffset">;
  readonly #partition: number;
  /** The offset behind our latest record. */
  #next: number;
  /** Offsets of end markers that follow our latest record. */
  #endMarkers = 0;
  readonly #gaps: Gap[] = [];
  readonly #closed = new AbortController();
  #isReading = false;
  #isAlone = true;

  constructor({ journal, partition, end }: SoleWriterParts) {
    this.#journal = journal;
    this.#partition = partition;
    this.#next = end;
  }

  /** False: another writer has written to the journal. */
  get isAlone(): boolean {
    return this.#isAlone;
  }

  /** @param appended the offsets of the records of a transaction, in their order. */
  noteCommit(records: readonly OutgoingRecord[], appended: readonly Appended[]): void {
    let expected = this.#next + this.#endMarkers;
    for (let at = 0; at < records.length; at += 1) {
      if (records[at]?.topic !== JOURNAL_TOPIC) continue;
      const { offset } = appended[at] as Appended;
      if (offset !== expected) this.#addGap({ from: this.#next, to: offset });
      this.#next = offset + 1;
      this.#endMarkers = END_MARKERS;
      expected = this.#next;
    }
  }

  close(): void {
    this.#closed.abort();
  }

  #addGap(gap: Gap): void {
    if (this.#gaps.length < GAPS_MAX) this.#gaps.push(gap);
    if (!this.#isReading) void this.#readGaps();
  }

  /** Runs in the background: decisions do not wait for it, since another writer is very rare. */
  async #readGaps(): Promise<void> {
    this.#isReading = true;
    for (let gap = this.#gaps[0]; gap !== undefined && this.#isAlone; gap = this.#gaps[0]) {
      const has = await this.#hasRecords(gap).catch(() => null);
      if (this.#closed.signal.aborted) return;
      if (has === null) await this.#pause();
      else this.#gaps.shift();
      if (has === true) this.#isAlone = false;
    }
    this.#isReading = false;
  }

  /** Null: not decided yet (SOLE-2). */
  async #hasRecords({ from, to }: Gap): Promise<boolean | null> {
    const partition = this.#partition;
    const read = await this.#journal
      .read(JOURNAL_TOPIC, partition, from, ONE_RECORD)
      .catch(nullIfDeleted);
    if (read === null) return await this.#hasRetainedRecords({ from, to });
    const { records, nextOffset } = read;
    if (records.some(({ offset }) => offset < to)) return true;
    return records.length > 0 || nextOffset >= to ? false : null;
  }

  /** SOLE-3. */
  async #hasRetainedRecords({ from, to }: Gap): Promise<boolean | null> {
    const start = await this.#journal.startOffset(JOURNAL_TOPIC, this.#partition);
    if (start >= to) return false;
    // Where the broker does not report the new start yet, the gap is read again.
    return start > from ? await this.#hasRecords({ from: start, to }) : null;
  }

  async #pause(): Promise<void> {
    const { signal } = this.#closed;
    await sleep(RETRY_MS, undefined, { signal, ref: false }).catch(() => undefined);
  }
}

function nullIfDeleted(error: unknown): null {
  if (asPipelineError(error).code === "input_out_of_reach") return null;
  throw error;
}
