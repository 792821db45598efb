/**
 * The end of the journal as the gate delivers it, so that many readers of what is new do not each
 * read and decode the log.
 *
 * TAIL-1 from `missedTo` on, it has every record of the partition that was delivered so far.
 */
import { asCallgateError } from "../../client/api/callgate-error.ts";
import type { GateLink } from "../../client/gate-link.ts";
import { findOffsetAt } from "../../client/journal/find-offset.ts";
import type { CommittedRecord } from "../../runtime/journal.ts";
import { journalRecordOf } from "../../runtime/read-journal.ts";
import { JOURNAL_TOPIC } from "../../runtime/topics.ts";

const RECORDS_MAX = 500;
/** One read of the log: decoding it delays requests for a few milliseconds. */
const READ_LIMITS = { recordsMax: 250, bytesMax: 1024 * 1024 };

export type JournalRead = {
  /** Later than the offset that was asked for: retention has deleted what lay between. */
  readonly from: number;
  readonly records: readonly CommittedRecord[];
  /** Where to go on; the same offset as before: there is nothing more now. */
  readonly nextOffset: number;
};

type Tail = {
  readonly records: CommittedRecord[];
  missedTo: number;
  /** False: what was delivered may be incomplete yet. */
  isFollowed: boolean;
};

export type TailListener = (records: readonly CommittedRecord[], partition: number) => void;

export class JournalTail {
  readonly #link: GateLink;
  readonly #tails = new Map<number, Tail>();
  readonly #listeners = new Set<TailListener>();
  #following: Promise<void> | undefined;

  constructor(link: GateLink) {
    this.#link = link;
    link.onCommitted((records, partition) => this.#committed(records, partition));
  }

  get partitions(): number {
    return this.#link.log.partitions;
  }

  /**
   * Resolves once all that the gate commits from now on is delivered, in every partition. Call it
   * before anything else. @throws CallgateError
   */
  async follow(): Promise<void> {
    this.#following ??= this.#follow();
    try {
      await this.#following;
    } catch (error) {
      this.#following = undefined;
      throw asCallgateError(error);
    }
  }

  /** Calls the listener with every delivery. Returns a function that removes it. */
  onCommitted(listener: TailListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * What was delivered from the offset on, if nothing is missing: whoever has processed it needs
   * only the next deliveries. Null: read on.
   */
  recent(partition: number, offset: number): readonly CommittedRecord[] | null {
    const tail = this.#tails.get(partition);
    if (tail?.isFollowed !== true || offset < tail.missedTo) return null;
    return tail.records.filter((one) => one.offset >= offset);
  }

  /** Some records from the offset on; from memory where they are new. @throws CallgateError */
  async read(partition: number, offset: number): Promise<JournalRead> {
    const recent = this.recent(partition, offset);
    if (recent !== null) {
      return {
        from: offset,
        records: recent,
        nextOffset: (recent.at(-1)?.offset ?? offset - 1) + 1,
      };
    }
    const { log, codec } = this.#link;
    try {
      const start = Math.max(offset, await log.startOffset(JOURNAL_TOPIC, partition));
      const { records, nextOffset } = await log.read(JOURNAL_TOPIC, partition, start, READ_LIMITS);
      const committed: CommittedRecord[] = [];
      for (const one of records) {
        if (one.value === null) continue;
        const record = await journalRecordOf(codec, partition, one);
        committed.push({ offset: one.offset, appendTimeMs: one.appendTimeMs, record });
      }
      return { from: start, records: committed, nextOffset: Math.max(start, nextOffset) };
    } catch (error) {
      throw asCallgateError(error);
    }
  }

  /** An offset at or shortly before the first record of that time or later. @throws CallgateError */
  async offsetAt(partition: number, timeMs: number): Promise<number> {
    try {
      return await findOffsetAt(this.#link.log, JOURNAL_TOPIC, partition, timeMs);
    } catch (error) {
      throw asCallgateError(error);
    }
  }

  /** The end of the partition now. @throws CallgateError */
  async endOffset(partition: number): Promise<number> {
    try {
      return await this.#link.log.endOffset(JOURNAL_TOPIC, partition);
    } catch (error) {
      throw asCallgateError(error);
    }
  }

  /** The first offset that can be read. @throws CallgateError */
  async startOffset(partition: number): Promise<number> {
    try {
      return await this.#link.log.startOffset(JOURNAL_TOPIC, partition);
    } catch (error) {
      throw asCallgateError(error);
    }
  }

  async #follow(): Promise<void> {
    const all = Array.from({ length: this.partitions }, (_, partition) => partition);
    await Promise.all(all.map((partition) => this.#link.follow(partition)));
    for (const partition of all) {
      const tail: Tail = { records: [], missedTo: 0, isFollowed: false };
      this.#tails.set(partition, tail);
      // What was committed before the partition was followed may never be delivered.
      const end = await this.#link.log.endOffset(JOURNAL_TOPIC, partition);
      tail.missedTo = Math.max(tail.missedTo, end);
      tail.isFollowed = true;
    }
  }

  #committed(records: readonly CommittedRecord[], partition: number): void {
    const tail = this.#tails.get(partition);
    if (tail === undefined) return;
    tail.records.push(...records);
    const excess = tail.records.length - RECORDS_MAX;
    if (excess > 0) {
      const [last] = tail.records.splice(0, excess).slice(-1);
      tail.missedTo = Math.max(tail.missedTo, (last?.offset ?? -1) + 1);
    }
    for (const listener of this.#listeners) listener(records, partition);
  }
}
