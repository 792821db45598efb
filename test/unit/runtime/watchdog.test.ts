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

  it("reports a loop that stopped turning once", () => {
    watchdog.turn();
    vi.advanceTimersByTime(6_000);
    expect(reportedMs).toEqual([]);
    vi.advanceTimersByTime(60_000);
    expect(reportedMs).toEqual([7_000]);
  });

  it("reports nothing while a loop turns", () => {
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

  it("does not report a process that was suspended as stuck", () => {
    watchdog.turn();
    // The clock went on and timers did not: overdue timers run once.
    vi.setSystemTime(Date.now() + 3_600_000);
    vi.advanceTimersByTime(1_000);
    expect(reportedMs).toEqual([]);
  });
});
