/**
 * Writes conversations to the state store, in the background. When the store fails, decisions go on
 * with all conversations in memory.
 *
 * SAVER-1 a full save writes the newest version of each conversation that changed, and the position
 *    last: what an interrupted one has written is newer than its position, which a replay tolerates.
 * SAVER-2 where memory is wanted alone, a save writes only the conversations whose turn to leave it
 *    is, and no position: busy conversations are written once in a while, not for each that leaves.
 * SAVER-3 conversations leave memory at the end of a save that succeeded, and never during one.
 */
import { blobOf, headerOf } from "./checkpoint.ts";
import type { PartitionState } from "./partition-state.ts";
import type { CheckpointBlob, Clock, Log, Logger, Metrics } from "./ports.ts";
import { type SaveLoad, SavePace } from "./save-pace.ts";
import type { StateStore } from "./state-store.ts";

export type StateSaverContext = {
  readonly partition: number;
  readonly log: Log;
  readonly store: StateStore;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Least number of journal records between two saves, unless memory is wanted. */
  readonly everyRecords: number;
  /** Bytes of a step of a save; absent: as many as a flush takes the time of. */
  readonly stepBytes?: number | undefined;
};

/** Bytes that one transaction writes: encoding and writing them takes about as long as a flush. */
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

export class StateSaver {
  readonly #context: StateSaverContext;
  #savedSeq = 0;
  #committedAtMs = 0;
  #hasFailed = false;
  #saving: Promise<void> | null = null;
  #pace: SavePace | null = null;

  constructor(context: StateSaverContext) {
    this.#context = context;
  }

  /** To be called when a partition was restored. @param savedSeq 0: the store has nothing. */
  begin(savedSeq: number): void {
    this.#savedSeq = savedSeq;
    this.#hasFailed = false;
  }

  /** Called after each commit. */
  noteCommit(state: PartitionState): void {
    this.#committedAtMs = this.#context.clock.nowMs();
    this.saveIfDue(state);
  }

  /** To be called also while there is nothing to decide. */
  saveIfDue(state: PartitionState): void {
    if (this.#saving !== null || state.unsaved.inStore.size === 0) return;
    const records = state.progress.seq - this.#savedSeq;
    if (records >= this.#context.everyRecords || this.#isQuietFor(SETTLED_MS))
      void this.#start(state, "all");
    else if (state.excessBytes > 0) void this.#start(state, "leaving");
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
    this.#saving = save.finally(() => {
      this.#saving = null;
    });
    return this.#saving;
  }

  /**
   * Waits until conversations fit into memory again. Resolves at once where they do, and where the
   * store fails: then they stay in memory.
   */
  async makeRoom(state: PartitionState): Promise<void> {
    if (!state.isOverfull || this.#hasFailed) return;
    await this.waitForSave();
    if (state.excessBytes <= 0) return;
    const saved = this.#start(state, "leaving");
    this.#pace?.hurry();
    await saved;
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
    const keys = state.unsavedLeaving();
    state.unsaved.inStore.takeOut(keys);
    try {
      const puts = await this.#writeChanged(state, keys, pace);
      this.#context.store.write(this.#context.partition, { puts, removals: [], header: null });
      this.#hasFailed = false;
      state.evict();
    } catch (error) {
      state.unsaved.inStore.giveBack(keys);
      this.#reportFailure(error);
    }
  }

  async #saveAll(state: PartitionState, pace: SavePace): Promise<void> {
    const { partition, log, clock, metrics } = this.#context;
    const startedMs = clock.nowMs();
    const keys = state.unsaved.inStore.take();
    const header = headerOf(log, state);
    try {
      const last = await this.#writeChanged(state, keys, pace);
      const removals = [...keys].filter((key) => !state.has(key));
      this.#context.store.write(partition, { puts: last, removals, header });
      this.#savedSeq = header.seq;
      this.#hasFailed = false;
      metrics.count("state_saves");
      metrics.observe("state_save", clock.nowMs() - startedMs);
      state.evict();
    } catch (error) {
      state.unsaved.inStore.giveBack(keys);
      this.#reportFailure(error);
    }
  }

  /** @returns the blobs for the last step. */
  async #writeChanged(
    state: PartitionState,
    keys: ReadonlySet<string>,
    pace: SavePace,
  ): Promise<readonly CheckpointBlob[]> {
    const { partition, store, clock } = this.#context;
    let puts: CheckpointBlob[] = [];
    let bytes = 0;
    let startedMs = clock.nowMs();
    const { stepBytes = STEP_BYTES } = this.#context;
    for (const key of keys) {
      const conversation = state.hot(key);
      if (conversation === undefined) continue;
      const blob = blobOf(key, conversation, state.fold);
      state.notePacked(key, conversation, blob.bytes.length);
      puts.push(blob);
      bytes += blob.bytes.length;
      if (bytes < (pace.inHaste ? HASTY_STEP_BYTES : stepBytes)) continue;
      store.write(partition, { puts, removals: [], header: null });
      await pace.rest(clock.nowMs() - startedMs);
      startedMs = clock.nowMs();
      puts = [];
      bytes = 0;
    }
    return puts;
  }

  #reportFailure(error: unknown): void {
    if (this.#hasFailed) return;
    this.#hasFailed = true;
    const { partition, logger } = this.#context;
    const problem = error instanceof Error ? error.message : String(error);
    const text = "the state store was not written: all conversations stay in memory until it is";
    logger.warn(text, { partition, problem });
  }
}
