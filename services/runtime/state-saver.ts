/**
 * Writes what changed to the state store, in the background, and then lets conversations leave
 * memory. When the store fails, decisions go on with all conversations in memory.
 *
 * SAVER-1 a save writes the newest version of each conversation, and the position last: what an
 *    interrupted one has written is newer than its position, which a replay tolerates.
 * SAVER-2 conversations leave memory at the end of a save that succeeded, and never during one.
 */
import { blobOf, headerOf } from "./checkpoint.ts";
import type { PartitionState } from "./partition-state.ts";
import type { CheckpointBlob, Clock, Log, Logger, Metrics } from "./ports.ts";
import { SavePace } from "./save-pace.ts";
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
/** So many unsaved conversations are saved, so that the last save of a gate that ends is short. */
const UNSAVED_MAX = 4_000;
/** Without a commit for this time, ms, there is nothing to decide. */
const IDLE_MS = 100;

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
    if (this.#saving === null && this.#isDue(state)) void this.#start(state);
  }

  #isDue(state: PartitionState): boolean {
    const unsaved = state.unsaved.inStore.size;
    if (unsaved === 0) return false;
    const records = state.progress.seq - this.#savedSeq;
    if (records >= this.#context.everyRecords || unsaved >= UNSAVED_MAX) return true;
    return state.excessBytes > 0;
  }

  #start(state: PartitionState): Promise<void> {
    const { clock } = this.#context;
    this.#pace = new SavePace(clock, () => clock.nowMs() - this.#committedAtMs >= IDLE_MS);
    this.#saving = this.#save(state, this.#pace).finally(() => {
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
    const saved = this.#start(state);
    this.#pace?.hurry();
    await saved;
  }

  /** Waits for a save in flight, then writes what has changed since. */
  async finish(state: PartitionState): Promise<void> {
    await this.waitForSave();
    if (state.progress.seq === this.#savedSeq) return;
    const saved = this.#start(state);
    this.#pace?.hurry();
    await saved;
  }

  /** Waits for a save in flight, which then takes no more rests. */
  async waitForSave(): Promise<void> {
    this.#pace?.hurry();
    await this.#saving;
  }

  async #save(state: PartitionState, pace: SavePace): Promise<void> {
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

  /** @returns the blobs for the last step, which also writes the position. */
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
