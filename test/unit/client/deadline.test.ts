import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { withDeadline } from "../../../services/client/deadline.ts";

const DAY_MS = 86_400_000;

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

// A Node timer of more than 24.8 days fires at once.
test.each([1, 24, 30, 100])("a wait of %i days takes that long", async (days) => {
  const limits = { leftMs: days * DAY_MS, signal: undefined, late: () => new Error("late") };
  let ended: unknown;
  withDeadline(new Promise(() => undefined), limits).catch((error: unknown) => {
    ended = error;
  });
  await vi.advanceTimersByTimeAsync(days * DAY_MS - 1);
  expect(ended).toBeUndefined();
  await vi.advanceTimersByTimeAsync(1);
  expect(ended).toEqual(new Error("late"));
  expect(vi.getTimerCount()).toBe(0);
});
