import { expect, test } from "vitest";
import { SettledDecisions } from "../../../services/executor/settled-decisions.ts";

const MINUTE = 60_000;

test("remembers what was begun for as long as it might be begun, and no longer", () => {
  const known = new SettledDecisions([], 0);
  for (let at = 0; at < 1_000; at += 1) {
    known.add(`d${at}`, at * 1_000 + MINUTE);
    known.forget(at * 1_000);
    expect(known.recall(`d${at}`, at * 1_000 + MINUTE)).toBe(true);
    if (at >= 60) expect(known.recall(`d${at - 60}`, at * 1_000)).toBe(true);
    expect(known.size).toBeLessThanOrEqual(60 + 11);
  }
});

test("remembers for longest what is said so of last", () => {
  const known = new SettledDecisions([], 0);
  known.add("d1", MINUTE);
  known.add("d1", 3 * MINUTE);
  known.forget(2 * MINUTE);
  expect(known.recall("d1", 3 * MINUTE)).toBe(true);
  known.forget(4 * MINUTE);
  expect(known.recall("d1", 3 * MINUTE)).toBe(false);
  expect(known.size).toBe(0);
});

test("remembers what results tell of until its record says how long that matters", () => {
  const known = new SettledDecisions(["d1", "d2", "d3"], 1_000 * MINUTE);
  known.forget(100 * MINUTE);
  expect(known.size).toBe(3);
  expect(known.recall("d1", 200 * MINUTE)).toBe(true);
  expect(known.recall("d2", MINUTE)).toBe(true);
  known.forget(101 * MINUTE);
  expect(known.size).toBe(2);
  expect(known.recall("d1", 200 * MINUTE)).toBe(true);
  known.forget(1_001 * MINUTE);
  expect(known.size).toBe(0);
});
