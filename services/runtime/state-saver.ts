/**
 * Writes conversations to the state store, in the background. When the store fails, decisions go on
 * with all conversations in memory.
 *
 * SAVER-1 a full save writes the newest version of each conversation that changed, and the position
 *    last: what an interrupted one has written is newer than its position, which a replay tolerates.
 * SAVER-2 where memory is wanted alone, a save writes only the conversations whose turn to leave it
 *    is, and no position: busy conversations are written once in a while, not for each that leaves.
 * SAVER-3 a conversation is saved once a write of its newest version has succeeded, and may leave memory
 *    from then on. Steps of several saves may alternate.
 */
import { blobOf, headerOf } from "./checkpoint.ts";
import type { PartitionState } from "./partition-state.ts";
import type { CheckpointBlob, Clock, Log, Logger, Metrics } from "./ports.ts";
import { type SaveLoad, SavePace } from "./save-pace.ts";
import type { StateStore, StoreBatch } from "./state-store.ts";

export type StateSaverContext = {
  readonly partition: number;
  readonly log: Log;
  readonly store: StateStore;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Least number of journal records between two saves, unless memory is wanted. */
  readonly everyRecords: number;
  /** Bytes of a step of a save; absent: as many as are packed in a few ms. */
  readonly stepBytes?: number | undefined;
};

/** Bytes that one transaction writes: about 20 states of five calls, which take 2 to 5 ms to pack. */
const STEP_BYTES = 48 * 1024;
const HASTY_STEP_BYTES = 512 * 1024;
/** So many times `everyRecords` after the last position a save is late, and overdue. */
const LATE = 1.5;
const OVERDUE = 2;
/** With more unsaved conversations a gate that ends does not wait: the next one replays them sooner. */
const UNSAVED_AT_END_MAX = 8_000;
/** Without a commit for this time, ms, there is nothing to decide. */
const IDLE_MS = 100;
/** Without a commit for this time, ms, what is unsaved is saved. */
const SETTLED_MS = 1_000;
/** Rest before the next save, ms, where one has failed. */
const RETRY_MS = 1_000;

export class StateSaver {
  readonly #context: StateSaverContext;
  #savedSeq = 0;
  #committedAtMs = 0;
  /** When the last save failed; null: it did not. */
  #failedAtMs: number | null = null;
  #saving: Promise<void> | null = null;
  #pace: SavePace | null = null;

  constructor(context: StateSaverContext) {
    this.#context = context;
  }

  /** To be called when a partition was restored. @param savedSeq 0: the store has nothing. */
  begin(savedSeq: number): void {
    this.#savedSeq = savedSeq;
    this.#failedAtMs = null;
  }

  /** Called after each commit. */
  noteCommit(state: PartitionState): void {
    this.#committedAtMs = this.#context.clock.nowMs();
    this.saveIfDue(state);
  }

  /** To be called also while there is nothing to decide. */
  saveIfDue(state: PartitionState): void {
    if (this.#saving !== null || state.unsaved.inStore.size === 0) return;
    const nowMs = this.#context.clock.nowMs();
    if (this.#failedAtMs !== null && nowMs - this.#failedAtMs < RETRY_MS) return;
    const records = state.progress.seq - this.#savedSeq;
    if (records >= this.#context.everyRecords || this.#isQuietFor(SETTLED_MS))
      void this.#start(state, "all");
    else if (state.isFull) void this.#start(state, "leaving");
  }

  #load({ progress }: PartitionState): SaveLoad {
    if (this.#isQuietFor(IDLE_MS)) return "idle";
    const due = (progress.seq - this.#savedSeq) / this.#context.everyRecords;
    if (due > OVERDUE) return "overdue";
    return due > LATE ? "late" : "busy";
  }

  #isQuietFor(ms: number): boolean {
    return this.#context.clock.nowMs() - this.#committedAtMs >= ms;
  }

  #start(state: PartitionState, what: "all" | "leaving"): Promise<void> {
    const pace = new SavePace(this.#context.clock, () => this.#load(state));
    this.#pace = pace;
    const save = what === "all" ? this.#saveAll(state, pace) : this.#saveLeaving(state, pace);
    this.#saving = save
      .catch((error: unknown) => this.#reportFailure(error))
      .finally(() => {
        this.#saving = null;
      });
    return this.#saving;
  }

  /**
   * Waits until conversations fit into memory again. Resolves at once where they do, and where the
   * store fails: then they stay in memory.
   */
  async makeRoom(state: PartitionState): Promise<void> {
    if (!state.isOverfull || this.#failedAtMs !== null) return;
    try {
      while (state.isFull) {
        await this.#writeStep(state, state.unsavedLeaving().values(), HASTY_STEP_BYTES);
      }
    } catch (error) {
      this.#reportFailure(error);
    }
    // Decisions waited: the time without a commit was no quiet one.
    this.#committedAtMs = this.#context.clock.nowMs();
  }

  /** Waits for a save in flight, then writes what has changed since, where that is soon done. */
  async finish(state: PartitionState): Promise<void> {
    await this.waitForSave();
    if (state.progress.seq === this.#savedSeq) return;
    if (state.unsaved.inStore.size > UNSAVED_AT_END_MAX) return;
    const saved = this.#start(state, "all");
    this.#pace?.hurry();
    await saved;
  }

  /** Waits for a save in flight, which then takes no more rests. */
  async waitForSave(): Promise<void> {
    this.#pace?.hurry();
    await this.#saving;
  }

  async #saveLeaving(state: PartitionState, pace: SavePace): Promise<void> {
    await this.#writeInSteps(state, state.unsavedLeaving(), pace);
  }

  async #saveAll(state: PartitionState, pace: SavePace): Promise<void> {
    const { log, clock, metrics } = this.#context;
    const startedMs = clock.nowMs();
    const header = headerOf(log, state);
    const keys = state.unsaved.inStore.list();
    const dropped = keys.filter((key) => !state.has(key));
    await this.#writeInSteps(state, keys, pace);
    // What was dropped and has come back since is in the store as it was before, or newly written.
    const puts = dropped.flatMap((key) => this.#pack(state, key) ?? []);
    const removals = dropped.filter((key) => !state.has(key));
    await this.#write(state, { puts, removals, header });
    this.#savedSeq = header.seq;
    metrics.count("state_saves");
    metrics.observe("state_save", clock.nowMs() - startedMs);
  }

  /** Writes conversations, and beside them those that must leave memory. */
  async #writeInSteps(
    state: PartitionState,
    keys: readonly string[],
    pace: SavePace,
  ): Promise<void> {
    const { stepBytes = STEP_BYTES } = this.#context;
    const left = keys.values();
    let isLast = false;
    while (!isLast) {
      const bytesMax = pace.inHaste ? HASTY_STEP_BYTES : stepBytes * pace.stepFactor;
      const step = await this.#writeStep(state, left, bytesMax);
      const more = state.isFull
        ? await this.#writeStep(state, state.unsavedLeaving().values(), bytesMax)
        : null;
      isLast = step.isLast;
      if (!isLast) await pace.rest(step.packedMs + (more?.packedMs ?? 0));
    }
  }

  /**
   * Writes the next of `keys` whose newest version is not in the store, about `bytesMax` of them.
   * @returns the time that the thread which decides spent on it, and whether none is left.
   */
  async #writeStep(
    state: PartitionState,
    keys: Iterator<string>,
    bytesMax: number,
  ): Promise<{ readonly packedMs: number; readonly isLast: boolean }> {
    const { clock } = this.#context;
    const startedMs = clock.nowMs();
    const puts: CheckpointBlob[] = [];
    let bytes = 0;
    let next: IteratorResult<string>;
    do {
      next = keys.next();
      const blob = next.done === true ? undefined : this.#pack(state, next.value);
      if (blob === undefined) continue;
      puts.push(blob);
      bytes += blob.bytes.length;
    } while (next.done !== true && bytes < bytesMax);
    const packedMs = clock.nowMs() - startedMs;
    if (puts.length > 0) await this.#write(state, { puts, removals: [], header: null });
    else state.evict();
    return { packedMs, isLast: next.done === true };
  }

  /** Undefined where the store has its newest version, or it was dropped. */
  #pack(state: PartitionState, key: string): CheckpointBlob | undefined {
    const conversation = state.unsaved.inStore.has(key) ? state.hot(key) : undefined;
    if (conversation === undefined) return undefined;
    const blob = blobOf(key, conversation, state.fold);
    state.notePacked(key, conversation, blob.bytes.length);
    return blob;
  }

  async #write(state: PartitionState, batch: StoreBatch): Promise<void> {
    const { partition, store } = this.#context;
    const unsaved = state.unsaved.inStore;
    for (const key of batch.removals) unsaved.delete(key);
    try {
      await store.write(partition, batch);
    } catch (error) {
      for (const key of batch.removals) unsaved.add(key);
      throw error;
    }
    this.#failedAtMs = null;
    for (const { key, seq } of batch.puts) if (state.hot(key)?.seq === seq) unsaved.delete(key);
    state.evict();
  }

  #reportFailure(error: unknown): void {
    const isFirst = this.#failedAtMs === null;
    const { partition, logger, clock } = this.#context;
    this.#failedAtMs = clock.nowMs();
    if (!isFirst) return;
    const problem = error instanceof Error ? error.message : String(error);
    const text = "the state store was not written: all conversations stay in memory until it is";
    logger.warn(text, { partition, problem });
  }
}
