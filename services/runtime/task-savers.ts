/** All that a task writes beside its journal: the state store, checkpoints, and the journal's head. */
import { Checkpointer } from "./checkpointer.ts";
import { HeadKeeper } from "./head-keeper.ts";
import type { PartitionState } from "./partition-state.ts";
import type { Start, StoredMark } from "./restore-context.ts";
import { StateSaver } from "./state-saver.ts";
import type { TaskContext } from "./task-context.ts";

export class TaskSavers {
  readonly #states: StateSaver | null;
  readonly #checkpoints: Checkpointer | null;
  readonly #heads: HeadKeeper | null;

  constructor(context: TaskContext) {
    const { partition, log, codec, clock, logger, metrics, options } = context;
    const { states = null, checkpoints, heads = null } = context;
    const parts = { partition, log, clock, logger, metrics };
    const everyRecords = options.checkpointEvery;
    this.#states = states === null ? null : new StateSaver({ ...parts, ...states, everyRecords });
    this.#checkpoints =
      checkpoints === null
        ? null
        : new Checkpointer({ ...parts, codec, store: checkpoints, everyRecords });
    this.#heads = heads === null ? null : new HeadKeeper({ ...parts, store: heads });
  }

  /** To be called before a replay begins on a state. */
  beginReplay({ inStoreSeq, state }: Start): void {
    // Otherwise the keys of all conversations that ever were would stay in memory.
    if (this.#checkpoints === null) state.unsaved.inCheckpoint.stop();
    if (inStoreSeq !== null) this.#states?.begin(inStoreSeq);
  }

  /** To be called when a partition was restored. @param prepared see `Checkpointer`. */
  begin(stored: StoredMark | null, prepared: boolean): void {
    if (stored !== null) this.#checkpoints?.begin(stored, prepared);
  }

  /** Waits where conversations take too much memory. */
  async makeRoom(state: PartitionState): Promise<void> {
    await this.#states?.makeRoom(state);
  }

  /** To be called after each commit. */
  async noteCommit(state: PartitionState): Promise<void> {
    this.#states?.noteCommit(state);
    this.#checkpoints?.noteCommit(state);
    this.#heads?.keep(state);
    await this.makeRoom(state);
  }

  /**
   * To be called while there is nothing to decide. @returns in how many ms to call it again;
   * undefined: nothing waits for that.
   */
  saveIfDue(state: PartitionState): number | undefined {
    this.#states?.saveIfDue(state);
    this.#checkpoints?.saveIfDue(state);
    this.#heads?.keep(state);
    return this.#heads?.dueMs(state);
  }

  /** Saves what has changed, before the partition is given up. */
  async finish(state: PartitionState): Promise<void> {
    await this.#states?.finish(state);
    await this.#checkpoints?.finish(state);
  }

  /** Waits for saves in flight; afterwards nothing is written any more. */
  async end(state: PartitionState): Promise<void> {
    await this.#states?.waitForSave();
    await this.#checkpoints?.waitForSave();
    await this.#heads?.finish(state);
  }
}
