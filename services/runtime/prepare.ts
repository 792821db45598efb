/**
 * Prepares the state of a partition in a process that does not own it, or not yet, so that taking
 * the partition over needs only the last few records.
 *
 * The state is built from the newest checkpoint and the committed part of the journal, which no
 * later owner changes. Whether it lacks records, and whether it still fits, is checked after the
 * fence (RESTORE-1, RESTORE-3 of restore.ts).
 */
import { readStretch } from "./read-journal.ts";
import { Replay } from "./replay.ts";
import type { ReadContext, Start } from "./restore-context.ts";
import { assertRetentionIntact, startFrom } from "./restore-start.ts";
import { JOURNAL_TOPIC } from "./topics.ts";

const ONE_RECORD = { recordsMax: 1, bytesMax: 1 };

export class Preparation {
  readonly #context: ReadContext;
  readonly #start: Start;
  readonly #replay: Replay;
  readonly #from: number;
  #offset: number;
  #wasAtEnd = false;

  private constructor(context: ReadContext, start: Start, from: number) {
    this.#context = context;
    this.#start = start;
    this.#from = from;
    this.#offset = from;
    this.#replay = new Replay(start.state, {
      startMoved: from > 0,
      checkChain: true,
      hashesFromSeq: start.hashesFromSeq,
      spanMs: context.spanMs,
    });
  }

  /** Loads the checkpoint, if there is one that fits. @throws PipelineError, as a restore does. */
  static async begin(context: ReadContext): Promise<Preparation> {
    const { log, partition } = context;
    const first = await log.startOffset(JOURNAL_TOPIC, partition);
    // The end that can be read now: the owner's transaction may be open, and nobody waits for it
    // here.
    const { endOffset } = await log.read(JOURNAL_TOPIC, partition, first, ONE_RECORD);
    const start =
      // The owner may have saved a checkpoint after that end was read, so no end bounds it here.
      (await startFrom(context, "store", Number.POSITIVE_INFINITY, null)) ??
      (await startFrom(context, "checkpoint", Number.POSITIVE_INFINITY, null)) ??
      (await startFrom(context, "journal", endOffset, null));
    if (start === null) throw new Error("a restore can always start at the journal");
    const { progress, journalOffset } = start.state;
    return new Preparation(context, start, progress.seq === 0 ? first : journalOffset);
  }

  /**
   * The state up to what was read; null where it saves nothing: a journal whose beginning is gone
   * is replayed in one go, and a part of a journal read from its start may be less than the next
   * checkpoint holds.
   */
  get start(): Start | null {
    const { checkpoints } = this.#context;
    const isShort = !this.#wasAtEnd && checkpoints !== null && this.#start.stored?.header === null;
    return isShort || this.#replay.hasLostStart ? null : this.#start;
  }

  /**
   * Reads one stretch on. False: there is nothing more now. @throws PipelineError, as a restore
   * does.
   */
  async readOn(): Promise<boolean> {
    const { state } = this.#start;
    const { entries, nextOffset } = await readStretch(
      this.#context,
      this.#offset,
      Number.POSITIVE_INFINITY,
    );
    const first = entries[0]?.record;
    if (first !== undefined && this.#from > 0 && state.progress.seq === 0 && first.seq > 1) {
      assertRetentionIntact(this.#context, first.previousAtMs, this.#from);
    }
    this.#replay.apply(entries);
    const isMore = nextOffset > this.#offset;
    this.#offset = nextOffset;
    this.#wasAtEnd ||= !isMore;
    return isMore;
  }
}
