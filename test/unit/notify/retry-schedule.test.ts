import { describe, expect, test } from "vitest";
import { nextTryMs, RETRY_DELAYS_MS } from "../../../services/notify/retry-schedule.ts";

const HOUR_MS = 3_600_000;
const middle = () => 0.5;
const failed = { status: 500, retryAfterMs: null };

describe("the next try", () => {
  test("comes later each time, and there are ten in less than a day", () => {
    const times = RETRY_DELAYS_MS.map((_, at) =>
      nextTryMs({ tries: at + 1, ...failed }, 0, middle),
    );
    expect(times).toEqual(RETRY_DELAYS_MS);
    expect(RETRY_DELAYS_MS.toSorted((a, b) => a - b)).toEqual(RETRY_DELAYS_MS);
    expect(RETRY_DELAYS_MS).toHaveLength(9);
    const sum = RETRY_DELAYS_MS.reduce((total, one) => total + one, 0);
    expect(sum).toBeGreaterThan(22 * HOUR_MS);
    expect(sum * 1.2).toBeLessThan(28 * HOUR_MS);
    expect(nextTryMs({ tries: 10, ...failed }, 0, middle)).toBeNull();
  });

  test("is spread by a fifth", () => {
    const at = (random: number) => nextTryMs({ tries: 3, ...failed }, 1_000, () => random);
    expect([at(0), at(0.5), at(1)]).toEqual([97_000, 121_000, 145_000]);
  });

  test("waits as long as the receiver asks, up to twelve hours", () => {
    const delayOf = (retryAfterMs: number) =>
      nextTryMs({ tries: 1, status: 429, retryAfterMs }, 0, middle);
    expect([delayOf(0), delayOf(60_000), delayOf(99 * HOUR_MS)]).toEqual([
      5_000,
      60_000,
      12 * HOUR_MS,
    ]);
  });

  test("does not come where the receiver is gone", () => {
    expect(nextTryMs({ tries: 1, status: 410, retryAfterMs: null }, 0, middle)).toBeNull();
  });
});
