/**
 * Writes checkpoints in the background. Nothing waits for it and nothing depends on it: when the
 * store fails, decisions go on and the next restore reads more of the journal.
 *
 * CHECKPOINTER-1 what is written is the committed state at one record: states are immutable, so
 *    references taken at once stay what they were while later records are committed.
 * CHECKPOINTER-2 it builds only on a checkpoint that it knows to be in the store. If the store
 *    holds another one, another owner has written it. If that one is newer than this state, the
 *    next owner wrote it, and this checkpointer stops. If it is older, the previous owner wrote it:
 *    the next save builds on it where it is between the checkpoint that this state was built on and
 *    this state.
 */
import { blobOf, headerOf, isOfJournal } from "./checkpoint.ts";
import type { PartitionState } from "./partition-state.ts";
import type {
  CheckpointBlob,
  CheckpointHeader,
  CheckpointStore,
  CheckpointUpdate,
  Clock,
  Codec,
  Log,
  Logger,
  Metrics,
} from "./ports.ts";
import type { StoredMark } from "./restore-context.ts";
import { SavePace } from "./save-pace.ts";
import type { Conversation } from "./stored-conversation.ts";

export type CheckpointerContext = {
  readonly partition: number;
  readonly log: Log;
  readonly codec: Codec;
  readonly store: CheckpointStore;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /**
   * Least number of journal records between two checkpoints; more where the last checkpoint was
   * large.
   */
  readonly everyRecords: number;
};

type Taken = {
  readonly header: CheckpointHeader;
  readonly replace: boolean;
  /** A conversation that is not in memory is read when its turn comes. */
  readonly changed: readonly (readonly [string, Conversation | null])[];
  readonly removals: readonly string[];
  /** Keys to give back if the save fails. */
  readonly keys: ReadonlySet<string>;
};

/**
 * About the size of a journal record. After a checkpoint that wrote many bytes, the journal grows
 * by as many before the next: however large conversations become, checkpoints cost no more writing
 * than the journal does, and a restore replays no longer than it loads.
 */
const JOURNAL_RECORD_BYTES = 2_048;

/**
 * What is not saved is saved at about this size, so that the last save of a gate that ends is short:
 * some 4,000 conversations of a few calls, which take a third of a second.
 */
const UNSAVED_BYTES_MAX = 8 * 1024 * 1024;
/** Such saves write at most so many times what the journal does. */
const PER_JOURNAL_BYTE = 4;

/** Without a commit for this time, ms, there is nothing to decide. */
const IDLE_MS = 100;

export class Checkpointer {
  readonly #context: CheckpointerContext;
  #mark: string | null = null;
  #replace = true;
  #stopped = true;
  /** The store may hold what the previous owner wrote after this state was built. */
  #isOutdated = false;
  #savedSeq = 0;
  #committedAtMs = 0;
  /** Bytes that the latest save wrote. */
  #savedBytes = 0;
  /** Average bytes of a conversation in the latest save. */
  #blobBytes = 4_096;
  #saving: Promise<void> | null = null;
  #pace: SavePace | null = null;

  constructor(context: CheckpointerContext) {
    this.#context = context;
  }

  /**
   * To be called when a partition was restored. @param prepared the state was built before the
   * fence.
   */
  begin({ mark, hasAnswered, header }: StoredMark, prepared: boolean): void {
    this.#mark = mark;
    this.#replace = header === null;
    this.#stopped = false;
    this.#isOutdated = prepared || !hasAnswered;
    this.#savedSeq = header?.seq ?? 0;
  }

  /** Called after each commit. */
  noteCommit(state: PartitionState): void {
    this.#committedAtMs = this.#context.clock.nowMs();
    this.saveIfDue(state);
  }

  /** To be called also while there is nothing to decide: a save may have ended since. */
  saveIfDue(state: PartitionState): void {
    if (this.#saving !== null || this.#stopped || !this.#isDue(state)) return;
    const { clock } = this.#context;
    this.#pace = new SavePace(clock, () =>
      clock.nowMs() - this.#committedAtMs >= IDLE_MS ? "idle" : "busy",
    );
    this.#saving = this.#save(state, { pace: this.#pace }).finally(() => {
      this.#saving = null;
    });
  }

  #isDue(state: PartitionState): boolean {
    const records = state.progress.seq - this.#savedSeq;
    const savedRecords = this.#savedBytes / JOURNAL_RECORD_BYTES;
    if (records >= Math.max(this.#context.everyRecords, savedRecords)) return true;
    const unsavedBytes = state.unsaved.inCheckpoint.size * this.#blobBytes;
    return unsavedBytes >= UNSAVED_BYTES_MAX && records >= savedRecords / PER_JOURNAL_BYTE;
  }

  /** Waits for a save in flight, then writes what has changed since. */
  async finish(state: PartitionState): Promise<void> {
    await this.waitForSave();
    if (!this.#stopped && state.progress.seq > this.#savedSeq) await this.#save(state, {});
  }

  /** Waits for a save in flight, which then takes no more rests. */
  async waitForSave(): Promise<void> {
    this.#pace?.hurry();
    await this.#saving;
  }

  async #save(
    state: PartitionState,
    paced: Pick<CheckpointUpdate, "pace">,
    isAgain = false,
  ): Promise<void> {
    const { partition, store, clock, logger, metrics } = this.#context;
    const startedMs = clock.nowMs();
    const taken = this.#take(state);
    try {
      const { header, replace, removals } = taken;
      const written = { bytes: 0 };
      const upserts = blobsOf(taken.changed, state, written);
      const update = { header, replace, upserts, removals, ...paced };
      const saved = await store.save(partition, update, this.#mark);
      if (saved.type === "saved") {
        this.#mark = saved.mark;
        this.#replace = false;
        this.#isOutdated = false;
        this.#savedSeq = header.seq;
        this.#savedBytes = written.bytes;
        if (taken.changed.length > 0) this.#blobBytes = written.bytes / taken.changed.length;
        metrics.count("checkpoints");
        metrics.observe("checkpoint", clock.nowMs() - startedMs);
        return;
      }
      state.unsaved.inCheckpoint.giveBack(taken.keys);
      if (await this.#lost(saved.mark, state, isAgain)) await this.#save(state, paced, true);
      return;
    } catch (error) {
      logger.warn("a checkpoint was not written, decisions go on", {
        partition,
        problem: error instanceof Error ? error.message : String(error),
      });
    }
    state.unsaved.inCheckpoint.giveBack(taken.keys);
  }

  /**
   * Handles a save that the store refused as stale. An empty store gets a full save next; a store
   * that the next owner has written is left alone. True where the previous owner wrote it: then the
   * save is repeated, once.
   */
  async #lost(mark: string | null, state: PartitionState, isAgain: boolean): Promise<boolean> {
    const builtOnSeq = this.#replace ? null : this.#savedSeq;
    this.#mark = mark;
    this.#replace = true;
    this.#savedSeq = 0;
    if (mark === null) return false;
    const isOutdated = this.#isOutdated;
    this.#isOutdated = false;
    if (!isAgain && (await this.#adopt(state, builtOnSeq, isOutdated))) return true;
    this.#stopped = true;
    this.#context.logger.warn("the checkpoint store was written by another owner", {
      partition: this.#context.partition,
    });
    return false;
  }

  /**
   * Continues from the checkpoint that the store holds. All keys that differ between this state and
   * a checkpoint made after this state's base are among the keys changed since then, so the next
   * save writes only those; any other checkpoint is replaced as a whole. False where the store's
   * checkpoint is newer than this state: another owner has taken over. A checkpoint that may not
   * come from an earlier owner is replaced only if this checkpointer did not know what the store
   * held.
   */
  async #adopt(
    state: PartitionState,
    builtOnSeq: number | null,
    isOutdated: boolean,
  ): Promise<boolean> {
    const { partition, store, log, codec } = this.#context;
    const { mark, header } = (await store.look?.(partition)) ?? { mark: this.#mark, header: null };
    this.#mark = mark;
    const { journalOffset } = state;
    if (header === null || header.topicId !== headerOf(log, state).topicId) return isOutdated;
    if (header.journalOffset > journalOffset) return false;
    if (builtOnSeq === null || header.seq < builtOnSeq) return true;
    const checkpointContext = { log, codec, partition, journalStart: 0, journalEnd: journalOffset };
    if (!(await isOfJournal(header, checkpointContext))) return true;
    this.#replace = false;
    this.#savedSeq = header.seq;
    return true;
  }

  #take(state: PartitionState): Taken {
    const keys = state.unsaved.inCheckpoint.take();
    const replace = this.#replace;
    const changed: [string, Conversation | null][] = [];
    const removals: string[] = [];
    for (const key of replace ? state.keys() : keys) {
      if (state.has(key)) changed.push([key, state.hot(key) ?? null]);
      else removals.push(key);
    }
    return { header: headerOf(this.#context.log, state), replace, changed, removals, keys };
  }
}

/** Makes blobs as they are asked for; `written` receives the size of each. */
function* blobsOf(
  changed: readonly (readonly [string, Conversation | null])[],
  state: PartitionState,
  written: { bytes: number },
): Generator<CheckpointBlob> {
  for (const [key, hot] of changed) {
    const conversation = hot ?? state.peek(key);
    if (conversation === undefined) continue;
    const blob = blobOf(key, conversation, state.fold);
    written.bytes += blob.bytes.length;
    yield blob;
  }
}
