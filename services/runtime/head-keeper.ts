import { type HeadStore, headOf } from "./journal-head.ts";
import type { PartitionState } from "./partition-state.ts";
import type { Clock, Log, Logger } from "./ports.ts";

export type HeadKeeperContext = {
  readonly partition: number;
  readonly log: Log;
  readonly store: HeadStore;
  readonly clock: Clock;
  readonly logger: Logger;
};

/** How far in ms the head may lag behind a journal that grows. */
const LAG_MS = 1_000;

/**
 * Writes a partition's head in the background: at most once a second while the journal grows, soon
 * after it becomes idle, and when the partition is closed.
 */
export class HeadKeeper {
  readonly #context: HeadKeeperContext;
  #savedSeq = 0;
  #savedAtMs = Number.NEGATIVE_INFINITY;
  #saving: Promise<void> | null = null;
  #hasFailed = false;

  constructor(context: HeadKeeperContext) {
    this.#context = context;
  }

  /** In how many ms to call `keep` again; Infinity: there is nothing to write. */
  dueMs(state: PartitionState): number {
    if (this.#saving !== null) return LAG_MS;
    if (state.progress.seq === this.#savedSeq) return Number.POSITIVE_INFINITY;
    return Math.max(this.#savedAtMs + LAG_MS - this.#context.clock.nowMs(), 0);
  }

  /** To be called after commits, and before the task waits for inputs. */
  keep(state: PartitionState): void {
    if (this.#saving !== null || this.dueMs(state) > 0) return;
    this.#saving = this.#save(state).finally(() => {
      this.#saving = null;
    });
  }

  /** Waits until the head covers all of the state. */
  async finish(state: PartitionState): Promise<void> {
    await this.#saving;
    if (state.progress.seq !== this.#savedSeq) await this.#save(state);
  }

  async #save(state: PartitionState): Promise<void> {
    const { partition, log, store, clock, logger } = this.#context;
    const head = headOf(log, state);
    try {
      await store.save(partition, head);
      this.#savedSeq = head.seq;
      this.#hasFailed = false;
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error);
      if (!this.#hasFailed) {
        const text = "the journal's head was not written: a loss may go unnoticed";
        logger.warn(text, { partition, problem });
      }
      this.#hasFailed = true;
    }
    this.#savedAtMs = clock.nowMs();
  }
}
