const TICKS = 6;

export type WatchdogOptions = {
  /** Longest time between two turns. */
  readonly limitMs: number;
  /** Told once. */
  readonly onStuck: (idleMs: number) => void;
};

/**
 * Sees that a loop turns: one that is stuck while something else keeps the process in its group would
 * keep its partitions for ever. It counts ticks of its own instead of comparing times, so that a process
 * that was itself asleep is not taken for a stuck one.
 */
export class Watchdog {
  readonly #options: WatchdogOptions;
  #timer: NodeJS.Timeout | null = null;
  #ticks = 0;

  constructor(options: WatchdogOptions) {
    this.#options = options;
  }

  /** The loop turned; from the first turn on it must go on turning. */
  turn(): void {
    this.#ticks = 0;
    this.#timer ??= setInterval(() => this.#tick(), this.#options.limitMs / TICKS).unref();
  }

  /** The loop stands still for a reason. The next turn arms again. */
  disarm(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
    this.#ticks = 0;
  }

  #tick(): void {
    this.#ticks += 1;
    if (this.#ticks <= TICKS) return;
    const idleMs = Math.round((this.#ticks * this.#options.limitMs) / TICKS);
    this.disarm();
    this.#options.onStuck(idleMs);
  }
}
