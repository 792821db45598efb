import type { Logger } from "./ports.ts";

/** A smaller difference is the latency of the brokers, and deadlines tolerate it. */
const OFF_MS_MAX = 5_000;
/** How often in ms a clock that stays wrong is logged again. */
const TELL_EVERY_MS = 600_000;

const BEHIND =
  "this host's clock is behind the brokers': holds and calls without a result fall due that much later; set it right";
const AHEAD =
  "this host's clock is ahead of the brokers': it looks for deadlines that much too early, with a tick every 250 ms; set it right";

/**
 * Warns where the host's clock and the log's clock differ. The host's clock determines only when to
 * append a tick.
 */
export class ClockWatch {
  readonly #partition: number;
  readonly #logger: Logger;
  #loggedAtMs = Number.NEGATIVE_INFINITY;

  constructor(partition: number, logger: Logger) {
    this.#partition = partition;
    this.#logger = logger;
  }

  /**
   * A record that was appended between two times of the host has an append time between them;
   * otherwise one of the clocks is wrong.
   */
  appended(appendTimeMs: number, fromMs: number, toMs: number): void {
    const isBehind = appendTimeMs > toMs;
    const byMs = isBehind ? appendTimeMs - toMs : fromMs - appendTimeMs;
    if (byMs <= OFF_MS_MAX || toMs - this.#loggedAtMs < TELL_EVERY_MS) return;
    this.#loggedAtMs = toMs;
    this.#logger.warn(isBehind ? BEHIND : AHEAD, { partition: this.#partition, byMs });
  }
}
