/** When a delivery that failed is tried again. */

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

/** The wait after each try that failed: 10 tries in about 23 hours. */
export const RETRY_DELAYS_MS: readonly number[] = [
  5 * SECOND_MS,
  30 * SECOND_MS,
  2 * MINUTE_MS,
  10 * MINUTE_MS,
  30 * MINUTE_MS,
  HOUR_MS,
  3 * HOUR_MS,
  6 * HOUR_MS,
  12 * HOUR_MS,
];

/** Part of the delay by which it is longer or shorter, so that receivers are not all asked at once. */
const JITTER = 0.2;
/** A receiver may ask to wait no longer than this. */
const ASKED_MS_MAX = 12 * HOUR_MS;
/** The receiver says that it wants nothing more. */
const GONE = 410;

export type FailedTry = {
  /** Tries that failed, this one included. */
  readonly tries: number;
  /** What the receiver answered; null: nothing. */
  readonly status: number | null;
  /** How long the receiver asks to wait; null: it does not say. */
  readonly retryAfterMs: number | null;
};

/** The time of the next try; null: there is none. @param random from 0 to below 1 */
export function nextTryMs(
  { tries, status, retryAfterMs }: FailedTry,
  nowMs: number,
  random: () => number,
): number | null {
  const delayMs = RETRY_DELAYS_MS[tries - 1];
  if (delayMs === undefined || status === GONE) return null;
  const spreadMs = delayMs * (1 + JITTER * (2 * random() - 1));
  const askedMs = Math.min(retryAfterMs ?? 0, ASKED_MS_MAX);
  return nowMs + Math.round(Math.max(spreadMs, askedMs));
}
