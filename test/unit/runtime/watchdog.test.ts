import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Watchdog } from "../../../services/runtime/watchdog.ts";

describe("the watchdog", () => {
  const reportedMs: number[] = [];
  let watchdog: Watchdog;
  beforeEach(() => {
    vi.useFakeTimers();
    reportedMs.length = 0;
    watchdog = new Watchdog({ limitMs: 6_000, onStuck: (idleMs) => reportedMs.push(idleMs) });
  });
  afterEach(() => {
    watchdog.disarm();
    vi.useRealTimers();
  });

  it("tells once of a loop that stopped turning", () => {
    watchdog.turn();
    vi.advanceTimersByTime(6_000);
    expect(reportedMs).toEqual([]);
    vi.advanceTimersByTime(60_000);
    expect(reportedMs).toEqual([7_000]);
  });

  it("is content with a loop that turns", () => {
    for (let turn = 0; turn < 20; turn += 1) {
      watchdog.turn();
      vi.advanceTimersByTime(5_000);
    }
    expect(reportedMs).toEqual([]);
  });

  it("waits for the first turn, and again after it was disarmed", () => {
    vi.advanceTimersByTime(60_000);
    watchdog.turn();
    watchdog.disarm();
    vi.advanceTimersByTime(60_000);
    expect(reportedMs).toEqual([]);
    watchdog.turn();
    vi.advanceTimersByTime(60_000);
    expect(reportedMs).toHaveLength(1);
  });

  it("does not take a process that was asleep for a stuck one", () => {
    watchdog.turn();
    // The clock went on, timers did not: what is due is run once.
    vi.setSystemTime(Date.now() + 3_600_000);
    vi.advanceTimersByTime(1_000);
    expect(reportedMs).toEqual([]);
  });
});
