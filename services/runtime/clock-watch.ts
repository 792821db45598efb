import type { Logger } from "./ports.ts";

/** Less than that is the way to the brokers, and what a deadline can bear. */
const OFF_MS_MAX = 5_000;
/** A clock that stays off is told of again after this time. */
const TELL_EVERY_MS = 600_000;

const BEHIND =
  "this host's clock is behind the brokers': holds and calls without a result fall due that much later; set it right";
const AHEAD =
  "this host's clock is ahead of the brokers': it looks for deadlines that much too early, with a tick every 250 ms; set it right";

/** Says where the host's clock, which tells only when to append a tick, is not that of the log. */
export class ClockWatch {
  readonly #partition: number;
  readonly #logger: Logger;
  #loggedAtMs = Number.NEGATIVE_INFINITY;

  constructor(partition: number, logger: Logger) {
    this.#partition = partition;
    this.#logger = logger;
  }

  /** What was appended between two times of the host has one between them: beyond them, one clock is off. */
  appended(appendTimeMs: number, fromMs: number, toMs: number): void {
    const isBehind = appendTimeMs > toMs;
    const byMs = isBehind ? appendTimeMs - toMs : fromMs - appendTimeMs;
    if (byMs <= OFF_MS_MAX || toMs - this.#loggedAtMs < TELL_EVERY_MS) return;
    this.#loggedAtMs = toMs;
    this.#logger.warn(isBehind ? BEHIND : AHEAD, { partition: this.#partition, byMs });
  }
}
