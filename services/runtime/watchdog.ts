const TICKS = 6;

export type WatchdogOptions = {
  /** Longest time between two turns, ms. */
  readonly limitMs: number;
  /** Called once. */
  readonly onStuck: (idleMs: number) => void;
};

/**
 * Detects a loop that no longer turns: if the loop is stuck while heartbeats keep the process in
 * its group, it would keep its partitions for ever. The watchdog counts its own ticks instead of
 * comparing times, so that a process that was itself suspended is not taken for a stuck one.
 */
export class Watchdog {
  readonly #options: WatchdogOptions;
  #timer: NodeJS.Timeout | null = null;
  #ticks = 0;

  constructor(options: WatchdogOptions) {
    this.#options = options;
  }

  /** To be called at each turn of the loop; after the first call the loop must go on turning. */
  turn(): void {
    this.#ticks = 0;
    this.#timer ??= setInterval(() => this.#tick(), this.#options.limitMs / TICKS).unref();
  }

  /** To be called when the loop pauses for a reason. The next turn arms the watchdog again. */
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
