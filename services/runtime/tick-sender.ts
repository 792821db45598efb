import { isDecided } from "./decided-ahead.ts";
import type { PartitionState } from "./partition-state.ts";
import type { Clock, Codec, Log, Logger, Metrics } from "./ports.ts";

/**
 * Shortest time between two ticks: the log's clock may be behind ours, and a tick then finds
 * nothing due.
 */
const BETWEEN_TICKS_MS = 250;

export type TickContext = {
  readonly partition: number;
  readonly log: Log;
  readonly codec: Codec;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
};

/**
 * Appends a tick to the verdicts when a deadline has passed on the local clock. The clock
 * determines only when to append; the tick's append time determines what is due.
 */
export class TickSender {
  readonly #context: TickContext;
  readonly #watch: ClockWatch;
  #sentAtMs = Number.NEGATIVE_INFINITY;
  /** Offset of the last tick; null: none was sent, or its offset is not known any more. */
  #sentOffset: number | null = null;

  constructor(context: TickContext) {
    this.#context = context;
    this.#watch = new ClockWatch(context.partition, context.logger);
  }

  /**
   * Compares the append time of a commit with the local clock, to see whether both agree. @param
   * sinceMs local time when the commit began.
   */
  noteCommit(state: PartitionState, sinceMs: number): void {
    this.#watch.compare(state.journalTimeMs, sinceMs, this.#context.clock.nowMs());
  }

  reset(): void {
    this.#sentOffset = null;
  }

  /** When to call `send` again, in ms of the local clock. */
  nextMs(state: PartitionState): number {
    const deadlineMs = state.deadlines.nextMs();
    if (deadlineMs === undefined) return Number.POSITIVE_INFINITY;
    return Math.max(deadlineMs, this.#sentAtMs + BETWEEN_TICKS_MS);
  }

  async send(state: PartitionState): Promise<void> {
    const { partition, log, codec, clock, metrics } = this.#context;
    if (clock.nowMs() < this.nextMs(state)) return;
    const sentOffset = this.#sentOffset;
    if (sentOffset !== null && !isDecided(state.progress, "verdicts", sentOffset)) return;
    this.#sentAtMs = clock.nowMs();
    const [appended] = await log.append([
      { topic: "verdicts", partition, key: null, value: codec.encodeTick() },
    ]);
    this.#sentOffset = appended?.offset ?? null;
    metrics.count("ticks");
  }
}

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
  compare(appendTimeMs: number, fromMs: number, toMs: number): void {
    const isBehind = appendTimeMs > toMs;
    const byMs = isBehind ? appendTimeMs - toMs : fromMs - appendTimeMs;
    if (byMs <= OFF_MS_MAX || toMs - this.#loggedAtMs < TELL_EVERY_MS) return;
    this.#loggedAtMs = toMs;
    this.#logger.warn(isBehind ? BEHIND : AHEAD, { partition: this.#partition, byMs });
  }
}
