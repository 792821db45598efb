// Compares the times of a rate window with a plain list, for every version.
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  NO_TIMES,
  type Times,
  timesFrom,
  timesList,
  timesPush,
  timesWithout,
} from "../../../services/collections/times.ts";

type Step = {
  readonly do: "push" | "without" | "restore";
  /** How much later than the previous step. */
  readonly laterMs: number;
  readonly windowMs: number;
  readonly most: number;
  /** How many versions ago the version is that the step starts from. */
  readonly back: number;
};

const step: fc.Arbitrary<Step> = fc.record({
  do: fc.constantFrom("push", "push", "push", "push", "push", "push", "without", "restore"),
  laterMs: fc.oneof({ weight: 9, arbitrary: fc.nat(3) }, { weight: 1, arbitrary: fc.constant(-2) }),
  windowMs: fc.constantFrom(1, 20, 200, 200, 200),
  most: fc.constantFrom(1, 9, 100, 100, 100),
  back: fc.constantFrom(0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 7),
});

function take(times: Times, one: Step, atMs: number): Times {
  if (one.do === "restore") return timesFrom(timesList(times));
  if (one.do === "without") return timesWithout(times, atMs);
  return timesPush(times, atMs, atMs - one.windowMs, one.most);
}

function takePlainly(list: readonly number[], one: Step, atMs: number): readonly number[] {
  if (one.do === "restore") return list;
  if (one.do === "without") {
    const last = list.lastIndexOf(atMs);
    return list.filter((_, at) => at !== last);
  }
  return [...list.filter((time) => time > atMs - one.windowMs), atMs].slice(-one.most);
}

test("each version equals a plain list, whatever later versions do", () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 400 }), (steps) => {
      const versions: { times: Times; list: readonly number[] }[] = [{ times: NO_TIMES, list: [] }];
      let atMs = 0;
      for (const one of steps) {
        atMs += one.laterMs;
        const from = versions[Math.max(0, versions.length - 1 - one.back)] as (typeof versions)[0];
        versions.push({
          times: take(from.times, one, atMs),
          list: takePlainly(from.list, one, atMs),
        });
      }
      for (const { times, list } of versions) expect(timesList(times)).toEqual(list);
    }),
  );
});

test("dropped times of a long window are freed", () => {
  let times = NO_TIMES;
  for (let atMs = 0; atMs < 10_000; atMs += 1) times = timesPush(times, atMs, atMs - 500, 1_000);
  expect(times.to - times.from).toBe(500);
  expect(times.line.length).toBeLessThanOrEqual(1_001);
});

test("a time exactly at the beginning of the window is outside, also where a late time is added", () => {
  const times = timesFrom([5, 10]);
  expect(timesList(timesPush(times, 12, 5, 9))).toEqual([10, 12]);
  expect(timesList(timesPush(times, 7, 5, 9))).toEqual([10, 7]);
});
