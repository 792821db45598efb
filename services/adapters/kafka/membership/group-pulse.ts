/** When a consumer group last said that our place in it is ours. */

/** How long a group waits at most for its members while it gives partitions out anew. */
export const REBALANCE_TIMEOUT_MS = 10_000;

/**
 * Told what the group's client sends and is answered. A broker that is gone answers nothing, and the client takes its
 * time to find out: whoever has heard nothing for a session may have lost its place, whatever it still thinks.
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

  /** No heartbeat is sent before the partitions are given out. */
  joining(): void {
    this.#isJoining = true;
  }

  joined(atMs: number): void {
    this.#isJoining = false;
    this.#heardAtMs = atMs;
  }

  /** The client has given up. */
  ended(): void {
    this.#isJoining = false;
  }

  /** When the heartbeat was sent that was answered last. */
  get answeredSentAtMs(): number {
    return this.#answeredSentAtMs;
  }

  /** Nothing was heard for longer than a session, and while the group waits for its members for as long as it may. */
  isIdle(nowMs: number): boolean {
    const waitMs = this.#isJoining ? REBALANCE_TIMEOUT_MS : 0;
    return nowMs - this.#heardAtMs > this.#sessionTimeoutMs + waitMs;
  }
}
