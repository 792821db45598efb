/**
 * A partition's state made ready by a process that does not own the partition, or not yet: so that
 * taking it over is a matter of the last few records.
 *
 * It is made of the newest checkpoint and of what is committed of the journal, which stays so whoever
 * goes on with it; what it may lack, and whether it still fits, is seen after the fence (RESTORE-1, RESTORE-3 of
 * restore.ts).
 */
import { readStretch } from "./read-journal.ts";
import { Replay } from "./replay.ts";
import type { ReadContext, Start } from "./restore-context.ts";
import { assertNothingYoungIsGone, startFrom } from "./restore-start.ts";
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
    // What can be read now: the owner's transaction may be open, and nobody waits for its end here.
    const { endOffset } = await log.read(JOURNAL_TOPIC, partition, first, ONE_RECORD);
    const start =
      // Its owner may have saved it since: it is looked for in the journal, whatever its end was.
      (await startFrom(context, "checkpoint", Number.POSITIVE_INFINITY, null)) ??
      (await startFrom(context, "journal", endOffset, null));
    if (start === null) throw new Error("a journal is always a start");
    const { progress, journalOffset } = start.state;
    return new Preparation(context, start, progress.seq === 0 ? first : journalOffset);
  }

  /**
   * The state as of what was read; null where it is worth nothing: a journal whose beginning is gone is
   * replayed in one go, and what was read of one from its start is less than the next checkpoint may hold.
   */
  get start(): Start | null {
    const { checkpoints } = this.#context;
    const isShort = !this.#wasAtEnd && checkpoints !== null && this.#start.stored?.header === null;
    return isShort || this.#replay.anchored ? null : this.#start;
  }

  /** Reads one stretch on. False: there is nothing more now. @throws PipelineError, as a restore does. */
  async readOn(): Promise<boolean> {
    const { state } = this.#start;
    const { entries, nextOffset } = await readStretch(
      this.#context,
      this.#offset,
      Number.POSITIVE_INFINITY,
    );
    const first = entries[0]?.record;
    if (first !== undefined && this.#from > 0 && state.progress.seq === 0 && first.seq > 1) {
      assertNothingYoungIsGone(this.#context, first.previousAtMs, this.#from);
    }
    this.#replay.apply(entries);
    const isMore = nextOffset > this.#offset;
    this.#offset = nextOffset;
    this.#wasAtEnd ||= !isMore;
    return isMore;
  }
}
