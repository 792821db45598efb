/** Tells whether a member of a consumer group still hears from the group. */

/** How long a group waits for its members during a rebalance. */
export const REBALANCE_TIMEOUT_MS = 10_000;

/**
 * Follows the heartbeats of the group's client. The client takes long to notice a broker that is
 * gone; a member that got no answer for a session may have lost its partitions, whatever the client
 * still reports.
 */
export class GroupPulse {
  readonly #sessionTimeoutMs: number;
  #heartbeatSentAtMs = 0;
  #answeredSentAtMs = 0;
  #heardAtMs = 0;
  #isJoining = false;

  constructor(sessionTimeoutMs: number) {
    this.#sessionTimeoutMs = sessionTimeoutMs;
  }

  heartbeatSent(atMs: number): void {
    this.#heartbeatSentAtMs = atMs;
  }

  heartbeatAnswered(): void {
    this.#answeredSentAtMs = this.#heartbeatSentAtMs;
    this.#heardAtMs = Math.max(this.#heardAtMs, this.#answeredSentAtMs);
  }

  /** During a join no heartbeat is sent until the partitions are assigned. */
  joining(): void {
    this.#isJoining = true;
  }

  joined(atMs: number): void {
    this.#isJoining = false;
    this.#heardAtMs = atMs;
  }

  /** The client has ended. */
  ended(): void {
    this.#isJoining = false;
  }

  /** When the latest answered heartbeat was sent. */
  get answeredSentAtMs(): number {
    return this.#answeredSentAtMs;
  }

  /** True where no answer came for a session; during a join, for the rebalance time-out as well. */
  isIdle(nowMs: number): boolean {
    const waitMs = this.#isJoining ? REBALANCE_TIMEOUT_MS : 0;
    return nowMs - this.#heardAtMs > this.#sessionTimeoutMs + waitMs;
  }
}
