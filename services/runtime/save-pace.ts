import type { CheckpointPace, Clock } from "./ports.ts";

/** How much there is to decide beside a save, or how much a restart would have to replay without it. */
export type SaveLoad = "busy" | "late" | "overdue" | "idle";

/**
 * A save that nobody waits for takes at most a tenth of the time, so that decisions keep the rest: half
 * of it where there is nothing to decide, a third where the save is late, and then two thirds.
 */
const REST_PER_WORK: Readonly<Record<SaveLoad, number>> = {
  busy: 9,
  late: 2,
  overdue: 0.5,
  idle: 1,
};

/** How many times as large as usual a step may be. */
const STEP_FACTOR_MAX = 4;

/** Rests between the steps of a save until somebody waits for its end. */
export class SavePace implements CheckpointPace {
  readonly #clock: Clock;
  readonly #load: () => SaveLoad;
  readonly #haste = new AbortController();
  #stepFactor = 1;

  constructor(clock: Clock, load: () => SaveLoad) {
    this.#clock = clock;
    this.#load = load;
  }

  get inHaste(): boolean {
    return this.#haste.signal.aborted;
  }

  /**
   * How many times as large as usual the next step may be. A rest lasts longer than it should where a
   * batch of decisions is under way; larger steps make up for that.
   */
  get stepFactor(): number {
    return this.#stepFactor;
  }

  async rest(workedMs: number): Promise<void> {
    const wantedMs = workedMs * REST_PER_WORK[this.#load()];
    const startedMs = this.#clock.nowMs();
    await this.#clock.sleep(wantedMs, this.#haste.signal);
    const restedMs = this.#clock.nowMs() - startedMs;
    const factor = (this.#stepFactor * restedMs) / Math.max(wantedMs, 1);
    this.#stepFactor = Math.min(Math.max(factor, 1), STEP_FACTOR_MAX);
  }

  hurry(): void {
    this.#haste.abort();
  }
}
