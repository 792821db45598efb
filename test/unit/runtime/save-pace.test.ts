import { describe, expect, it } from "vitest";
import type { Clock } from "../../../services/runtime/ports.ts";
import { type SaveLoad, SavePace } from "../../../services/runtime/save-pace.ts";

/** Each sleep takes so many ms longer than it should. */
function clockOf(lateMs: number): Clock & { readonly slept: number[] } {
  let nowMs = 0;
  const slept: number[] = [];
  return {
    slept,
    nowMs: () => nowMs,
    sleep: (timeMs, signal) => {
      slept.push(timeMs);
      if (signal?.aborted !== true) nowMs += timeMs + lateMs;
      return Promise.resolve();
    },
  };
}

describe("the pace of a save", () => {
  it.each([
    ["busy", 90],
    ["late", 20],
    ["overdue", 5],
    ["idle", 10],
  ] as const satisfies readonly (readonly [SaveLoad, number])[])(
    "rests as long as decisions need where the gate is %s",
    async (load, restMs) => {
      const clock = clockOf(0);
      const pace = new SavePace(clock, () => load);
      await pace.rest(10);
      expect(clock.slept).toEqual([restMs]);
      expect(pace.stepFactor).toBe(1);
    },
  );

  it("makes steps larger where a rest lasts longer than it should, at most four times", async () => {
    const pace = new SavePace(clockOf(20), () => "late");
    await pace.rest(10);
    expect(pace.stepFactor).toBe(2);
    await pace.rest(20);
    expect(pace.stepFactor).toBe(3);
    for (let step = 0; step < 10; step += 1) await pace.rest(1);
    expect(pace.stepFactor).toBe(4);
  });

  it("rests no more once somebody waits", async () => {
    const pace = new SavePace(clockOf(1_000), () => "busy");
    pace.hurry();
    await pace.rest(10);
    expect(pace.inHaste).toBe(true);
    expect(pace.stepFactor).toBe(1);
  });
});
