import { expect, test } from "vitest";
import { timesFrom } from "../../../../services/collections/times.ts";
import { overRate } from "../../../../services/core/checks/rate.ts";

const RATE = { count: 2, windowMs: 100 };

test("a rate has room while fewer than N calls were counted", () => {
  expect(overRate(undefined, RATE, 0)).toBeNull();
  expect(overRate(timesFrom([]), RATE, 0)).toBeNull();
  expect(overRate(timesFrom([5]), RATE, 5)).toBeNull();
});

test("a full rate has room again once the N-th latest call has left the window, and says when", () => {
  expect(overRate(timesFrom([0, 10]), RATE, 10)).toBe(90);
  expect(overRate(timesFrom([0, 10]), RATE, 99)).toBe(1);
  expect(overRate(timesFrom([0, 10]), RATE, 100)).toBeNull();
  expect(overRate(timesFrom([0, 10, 20]), RATE, 100)).toBe(10);
});
