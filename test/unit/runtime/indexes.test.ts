// The two indexes over conversations, against the plain thing they stand for.
import { describe, expect, it } from "vitest";
import { DeadlineIndex } from "../../../services/runtime/deadline-index.ts";
import { LapseIndex } from "../../../services/runtime/lapse-index.ts";
import { Random } from "../../support/simulation/random.ts";

describe("the deadline index", () => {
  it("agrees with a plain map through any changes", () => {
    const random = new Random(5);
    const index = new DeadlineIndex();
    const plain = new Map<string, number>();
    for (let step = 0; step < 3_000; step += 1) {
      const key = `k${random.integer(0, 40)}`;
      const deadline = random.chance(0.3) ? undefined : random.integer(0, 1_000);
      index.set(key, deadline);
      if (deadline === undefined) plain.delete(key);
      else plain.set(key, deadline);
      const next = plain.size === 0 ? undefined : Math.min(...plain.values());
      expect(index.nextMs()).toBe(next);
      const nowMs = random.integer(0, 1_000);
      const due = index.due(nowMs).map(({ key: k, deadlineMs }) => `${k}@${deadlineMs}`);
      const plainDue = [...plain].filter(([, at]) => at <= nowMs).map(([k, at]) => `${k}@${at}`);
      expect(due.sort()).toEqual(plainDue.sort());
    }
  });
});

describe("the lapse index", () => {
  const hour = 3_600_000;
  it("names what may have lapsed, and forgets the hours that are over", () => {
    const index = new LapseIndex();
    index.add("a", hour / 2);
    index.add("b", 1.5 * hour);
    index.add("c", 9 * hour);
    expect(index.candidates(hour - 1)).toEqual(["a"]);
    expect([...index.candidates(hour)].sort()).toEqual(["a", "b"]);
    index.forget(hour);
    expect(index.candidates(hour)).toEqual(["b"]);
    index.add("b", 9 * hour);
    index.forget(3 * hour);
    expect(index.candidates(3 * hour)).toEqual([]);
    expect([...index.candidates(10 * hour)].sort()).toEqual(["b", "c"]);
  });
});
