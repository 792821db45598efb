/**
 * Whether a journal that has one writer is written by somebody else. Gates of one `kafka.app` and group
 * fence each other; of another app or group they do not, and each would decide every call once more. The
 * offsets show it: a transaction takes those of its records and one for its end. More lies between two of
 * them where the cluster has marked an end twice, after a failure, or where there are records of others.
 *
 * SOLE-1 Whatever lies between the journal's end at the take-over and the newest record of ours, and is not
 *    ours, is looked at, from right behind the record before: where transactions overlap, the record of
 *    another stands where the mark of ours would.
 * SOLE-2 An answer is a record, or an offset behind the gap. What is read before the other's transaction ends,
 *    or fails, is none: it is asked again.
 * SOLE-3 What retention has taken of a gap cannot be looked at any more, and is passed by: whoever wrote there and goes
 *    on shows in a later gap, and there is nobody to stop for where that never comes.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { asPipelineError } from "../../../runtime/errors.ts";
import type { Appended, Log, OutgoingRecord } from "../../../runtime/ports.ts";
import { JOURNAL_TOPIC } from "../../../runtime/topics.ts";

/** A mark ends each transaction. */
const MARKS = 1;
const ONE_RECORD = { recordsMax: 1, bytesMax: 1 };
const LOOK_AGAIN_MS = 100;
/** Looked at one after the other. Whoever writes beside us goes on: what is left out comes again. */
const GAPS_MAX = 1_000;

/** From the first offset to before the other. */
type Gap = { readonly from: number; readonly to: number };

export type SoleWriterParts = {
  readonly journal: Pick<Log, "read" | "startOffset">;
  readonly partition: number;
  /** Of the journal, after whoever wrote it before was fenced. */
  readonly end: number;
};

export class SoleWriter {
  readonly #journal: Pick<Log, "read" | "startOffset">;
  readonly #partition: number;
  /** Right behind the last record of ours. */
  #next: number;
  /** What ours is followed by. */
  #marks = 0;
  readonly #gaps: Gap[] = [];
  readonly #closed = new AbortController();
  #isLooking = false;
  #isAlone = true;

  constructor({ journal, partition, end }: SoleWriterParts) {
    this.#journal = journal;
    this.#partition = partition;
    this.#next = end;
  }

  /** False: somebody else has written the journal. */
  get isAlone(): boolean {
    return this.#isAlone;
  }

  /** @param appended where the records of a transaction went, in their order. */
  wrote(records: readonly OutgoingRecord[], appended: readonly Appended[]): void {
    let expected = this.#next + this.#marks;
    for (let at = 0; at < records.length; at += 1) {
      if (records[at]?.topic !== JOURNAL_TOPIC) continue;
      const { offset } = appended[at] as Appended;
      if (offset !== expected) this.#addGap({ from: this.#next, to: offset });
      this.#next = offset + 1;
      this.#marks = MARKS;
      expected = this.#next;
    }
  }

  close(): void {
    this.#closed.abort();
  }

  #addGap(gap: Gap): void {
    if (this.#gaps.length < GAPS_MAX) this.#gaps.push(gap);
    if (!this.#isLooking) void this.#look();
  }

  /** Beside what goes on: another may be there, which is next to never. */
  async #look(): Promise<void> {
    this.#isLooking = true;
    for (let gap = this.#gaps[0]; gap !== undefined && this.#isAlone; gap = this.#gaps[0]) {
      const has = await this.#hasRecords(gap).catch(() => null);
      if (this.#closed.signal.aborted) return;
      if (has === null) await this.#pause();
      else this.#gaps.shift();
      if (has === true) this.#isAlone = false;
    }
    this.#isLooking = false;
  }

  /** Null: nobody knows yet. */
  async #hasRecords({ from, to }: Gap): Promise<boolean | null> {
    const partition = this.#partition;
    const read = await this.#journal
      .read(JOURNAL_TOPIC, partition, from, ONE_RECORD)
      .catch(ifTaken);
    if (read === null) return await this.#hasRecordsLeft({ from, to });
    const { records, nextOffset } = read;
    if (records.some(({ offset }) => offset < to)) return true;
    return records.length > 0 || nextOffset >= to ? false : null;
  }

  /** SOLE-3. */
  async #hasRecordsLeft({ from, to }: Gap): Promise<boolean | null> {
    const start = await this.#journal.startOffset(JOURNAL_TOPIC, this.#partition);
    if (start >= to) return false;
    // Not known to be behind it yet: it is asked again.
    return start > from ? await this.#hasRecords({ from: start, to }) : null;
  }

  async #pause(): Promise<void> {
    const { signal } = this.#closed;
    await sleep(LOOK_AGAIN_MS, undefined, { signal, ref: false }).catch(() => undefined);
  }
}

function ifTaken(error: unknown): null {
  if (asPipelineError(error).code === "input_out_of_reach") return null;
  throw error;
}
