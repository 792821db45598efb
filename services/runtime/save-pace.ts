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

/** Rests between the steps of a save until somebody waits for its end. */
export class SavePace implements CheckpointPace {
  readonly #clock: Clock;
  readonly #load: () => SaveLoad;
  readonly #haste = new AbortController();

  constructor(clock: Clock, load: () => SaveLoad) {
    this.#clock = clock;
    this.#load = load;
  }

  get inHaste(): boolean {
    return this.#haste.signal.aborted;
  }

  rest(workedMs: number): Promise<void> {
    return this.#clock.sleep(workedMs * REST_PER_WORK[this.#load()], this.#haste.signal);
  }

  hurry(): void {
    this.#haste.abort();
  }
}
