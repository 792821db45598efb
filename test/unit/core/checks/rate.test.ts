import { expect, test } from "vitest";
import { timesFrom } from "../../../../services/collections/times.ts";
import { overRate } from "../../../../services/core/checks/rate.ts";

const RATE = { count: 2, windowMs: 100 };

test("there is room before anything was counted, and while less than N were", () => {
  expect(overRate(undefined, RATE, 0)).toBeNull();
  expect(overRate(timesFrom([]), RATE, 0)).toBeNull();
  expect(overRate(timesFrom([5]), RATE, 5)).toBeNull();
});

test("there is none until the N-th latest has left the window, and it says how long", () => {
  expect(overRate(timesFrom([0, 10]), RATE, 10)).toBe(90);
  expect(overRate(timesFrom([0, 10]), RATE, 99)).toBe(1);
  expect(overRate(timesFrom([0, 10]), RATE, 100)).toBeNull();
  expect(overRate(timesFrom([0, 10, 20]), RATE, 100)).toBe(10);
});
