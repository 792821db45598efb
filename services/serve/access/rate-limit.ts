/** Limits the requests of each token: a bucket that fills at the configured rate. */
import type { Clock } from "../../runtime/ports.ts";

type Bucket = { tokens: number; atMs: number };

const MS_PER_SECOND = 1_000;
/** More than any server has tokens; beyond it, all buckets start full again. */
const BUCKETS_MAX = 10_000;

/** Requests without a token share one bucket. */
export class RateLimit {
  readonly #perSecond: number;
  readonly #clock: Pick<Clock, "nowMs">;
  readonly #buckets = new Map<string, Bucket>();

  constructor(perSecond: number, clock: Pick<Clock, "nowMs">) {
    this.#perSecond = perSecond;
    this.#clock = clock;
  }

  /** 0: the request may go on; else the seconds until one may. */
  take(key: string): number {
    const nowMs = this.#clock.nowMs();
    const burst = Math.max(1, this.#perSecond);
    if (this.#buckets.size >= BUCKETS_MAX) this.#buckets.clear();
    const bucket = this.#buckets.get(key) ?? { tokens: burst, atMs: nowMs };
    const elapsedMs = Math.max(0, nowMs - bucket.atMs);
    bucket.tokens = Math.min(burst, bucket.tokens + (elapsedMs / MS_PER_SECOND) * this.#perSecond);
    bucket.atMs = nowMs;
    this.#buckets.set(key, bucket);
    if (bucket.tokens < 1) return Math.ceil((1 - bucket.tokens) / this.#perSecond);
    bucket.tokens -= 1;
    return 0;
  }
}
