// Compares the two indexes over conversations with a plain map.
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

describe("the deadline index of calls that end before their deadline", () => {
  it("drops outdated entries, and agrees with a plain map of the others", () => {
    const index = new DeadlineIndex();
    const most = 1_000 + 2 * 5;
    for (let call = 0; call < 20_000; call += 1) {
      const key = `k${call % 5}`;
      index.set(key, 1_000_000 + call);
      if (call % 5 > 0) index.set(key, undefined);
      expect(index.size).toBeLessThanOrEqual(most);
    }
    expect(index.nextMs()).toBe(1_000_000 + 19_995);
    expect(index.due(2_000_000)).toEqual([{ deadlineMs: 1_019_995, key: "k0" }]);
  });
});

describe("the lapse index", () => {
  const span = 10_000;
  const gone = () => undefined;

  it("returns the keys that may have lapsed, and forgets the spans that are over", () => {
    const index = new LapseIndex();
    index.add("a", span / 2);
    index.add("b", 1.5 * span);
    index.add("c", 9 * span);
    expect(index.candidates(span - 1)).toEqual(["a"]);
    expect([...index.candidates(span)].sort()).toEqual(["a", "b"]);
    index.forget(span, gone);
    expect(index.candidates(span)).toEqual(["b"]);
    index.forget(3 * span, gone);
    expect(index.candidates(3 * span)).toEqual([]);
    expect(index.candidates(10 * span)).toEqual(["c"]);
  });

  it("moves a key that lives longer to its new span, and keeps one that something else keeps alive", () => {
    const index = new LapseIndex();
    index.add("lives on", span);
    index.add("is held", span);
    const ends = new Map([
      ["lives on", 7 * span],
      ["is held", span],
    ]);
    index.forget(5 * span, (key) => ends.get(key));
    expect(index.candidates(5 * span)).toEqual(["is held"]);
    expect([...index.candidates(7 * span)].sort()).toEqual(["is held", "lives on"]);
    index.add("lives on", 6 * span);
    expect([...index.candidates(6 * span)].sort()).toEqual(["is held", "lives on"]);
  });

  it("returns the same keys where the clock jumps over more spans than there are keys", () => {
    const index = new LapseIndex();
    // Looking at the spans one by one would take days.
    const today = 8_640_000_000_000_000 - 10 * span;
    index.add("from before the clock was set", 5);
    index.add("of today", today);
    expect(index.candidates(today - span)).toEqual(["from before the clock was set"]);
    expect([...index.candidates(today)].sort()).toEqual([
      "from before the clock was set",
      "of today",
    ]);
    index.forget(today + span, (key) => (key === "of today" ? today + 3 * span : undefined));
    expect(index.candidates(today + 2 * span)).toEqual([]);
    expect(index.candidates(today + 3 * span)).toEqual(["of today"]);
  });

  it("returns all lapsed keys through any changes, and few others", () => {
    const random = new Random(7);
    const index = new LapseIndex();
    const ends = new Map<string, number>();
    let nowMs = 3 * span;
    let candidateCount = 0;
    let lapsed = 0;
    for (let step = 0; step < 5_000; step += 1) {
      const key = `k${random.integer(0, 200)}`;
      const end = nowMs + random.integer(0, 20 * span);
      const before = ends.get(key);
      if (before === undefined || end < before) index.add(key, end);
      ends.set(key, end);
      nowMs += random.chance(0.01) ? random.integer(0, 30 * span) : random.integer(0, 100);
      if (step % 10 > 0) continue;
      const candidates = new Set(index.candidates(nowMs));
      const over = [...ends].filter(([, at]) => at <= nowMs).map(([over]) => over);
      expect(over.filter((one) => !candidates.has(one))).toEqual([]);
      candidateCount += candidates.size;
      lapsed += over.length;
      for (const one of over) ends.delete(one);
      index.forget(nowMs, (one) => ends.get(one));
    }
    expect(lapsed).toBeGreaterThan(1_000);
    expect(candidateCount).toBeLessThan(5 * lapsed);
  });
});
