/**
 * Prepares the states of partitions that may come to this gate while another gate owns them: before
 * and while the gate joins its group, and for a while after, since an operator may have started it
 * to replace another gate soon.
 *
 * STANDBY-1 it only ever saves time: what cannot be prepared is restored as if nobody had tried.
 * STANDBY-2 once a partition is taken, the standby reads no further in it.
 */

import type { Clock, Logger } from "../runtime/ports.ts";
import { Preparation } from "../runtime/prepare.ts";
import type { ReadContext, Start } from "../runtime/restore-context.ts";

export type StandbyParts = {
  readonly contextOf: (partition: number) => ReadContext;
  readonly clock: Clock;
  readonly logger: Logger;
  /** How long in ms partitions that were not assigned to us are followed. */
  readonly followMs: number;
};

type Prepared = {
  preparation: Preparation | null;
  /** The current read. */
  step: Promise<void>;
};

/** While one lane waits for the store, the other reads a journal. */
const LANES = 2;
const LOOK_EVERY_MS = 200;

export class Standby {
  readonly #parts: StandbyParts;
  readonly #prepared = new Map<number, Prepared>();
  readonly #taken = new Set<number>();
  readonly #closing = new AbortController();

  constructor(parts: StandbyParts) {
    this.#parts = parts;
  }

  /**
   * Resolves when each partition has been read to its end, or cannot be read. Follows them after
   * that.
   */
  async prepare(partitions: readonly number[]): Promise<void> {
    const { clock, logger, followMs } = this.#parts;
    const startedMs = clock.nowMs();
    const left = [...partitions];
    const lane = async (): Promise<void> => {
      for (let number = left.shift(); number !== undefined; number = left.shift()) {
        if (!this.#taken.has(number) && !this.#isClosed) await this.#begin(number);
      }
    };
    await Promise.all(Array.from({ length: LANES }, lane));
    const elapsedMs = clock.nowMs() - startedMs;
    if (partitions.length > 0) {
      logger.info("partitions were prepared", { partitions: partitions.join(), elapsedMs });
    }
    void this.#follow(clock.nowMs() + followMs);
  }

  /**
   * The prepared state of a partition that is ours now, or null. The standby no longer follows it.
   */
  async take(partition: number): Promise<Start | null> {
    this.#taken.add(partition);
    const prepared = this.#prepared.get(partition);
    if (prepared === undefined) return null;
    this.#prepared.delete(partition);
    await prepared.step;
    return prepared.preparation?.start ?? null;
  }

  /** Drops all states that were not taken. */
  close(): void {
    this.#closing.abort();
    this.#prepared.clear();
  }

  get #isClosed(): boolean {
    return this.#closing.signal.aborted;
  }

  async #begin(partition: number): Promise<void> {
    const prepared: Prepared = { preparation: null, step: Promise.resolve() };
    this.#prepared.set(partition, prepared);
    await this.#step(partition, prepared, async () => {
      prepared.preparation = await Preparation.begin(this.#parts.contextOf(partition));
    });
    await this.#catchUp(partition, prepared);
  }

  async #follow(untilMs: number): Promise<void> {
    const { clock } = this.#parts;
    while (!this.#isClosed && this.#prepared.size > 0 && clock.nowMs() < untilMs) {
      await clock.sleep(LOOK_EVERY_MS, this.#closing.signal);
      for (const [partition, prepared] of this.#prepared) await this.#catchUp(partition, prepared);
    }
    this.close();
  }

  async #catchUp(partition: number, prepared: Prepared): Promise<void> {
    const { preparation } = prepared;
    for (let isMore = preparation !== null; isMore; ) {
      // The state was taken, dropped or closed meanwhile.
      if (this.#prepared.get(partition) !== prepared) return;
      await this.#step(partition, prepared, async () => {
        isMore = (await preparation?.readOn()) ?? false;
        // Yields to the partitions that the gate owns already: they have decisions to make.
        if (isMore) await this.#parts.clock.sleep(0);
      });
      isMore &&= prepared.preparation !== null;
    }
  }

  async #step(partition: number, prepared: Prepared, work: () => Promise<void>): Promise<void> {
    prepared.step = work().catch((error: unknown) => {
      prepared.preparation = null;
      this.#prepared.delete(partition);
      if (this.#isClosed) return;
      this.#parts.logger.info("a partition could not be prepared", {
        partition,
        problem: error instanceof Error ? error.message : String(error),
      });
    });
    await prepared.step;
  }
}
