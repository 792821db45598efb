import type { CheckpointPace, Clock } from "./ports.ts";

/**
 * A save that nobody waits for takes at most a tenth of the time, so that decisions keep the rest,
 * and half of it where there is nothing to decide.
 */
const REST_PER_WORK = 9;
const REST_PER_WORK_IDLE = 1;

/** Rests between the steps of a save until somebody waits for its end. */
export class SavePace implements CheckpointPace {
  readonly #clock: Clock;
  readonly #isIdle: () => boolean;
  readonly #haste = new AbortController();

  constructor(clock: Clock, isIdle: () => boolean) {
    this.#clock = clock;
    this.#isIdle = isIdle;
  }

  get inHaste(): boolean {
    return this.#haste.signal.aborted;
  }

  rest(workedMs: number): Promise<void> {
    const perWork = this.#isIdle() ? REST_PER_WORK_IDLE : REST_PER_WORK;
    return this.#clock.sleep(workedMs * perWork, this.#haste.signal);
  }

  hurry(): void {
    this.#haste.abort();
  }
}
