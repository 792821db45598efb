import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import {
  ANY_MARK,
  markOf,
  mayHold,
  NO_MARKS,
  tagOf,
} from "../../../../services/core/persistent/key-mark.ts";

const COUNT = 4_096;
const MARKS = 32;

/** How many keys have the mark that most of them have. */
function mostOfOneMark(keys: readonly string[]): number {
  const counts = new Map<number, number>();
  for (const mark of keys.map((key) => markOf(tagOf(key)))) {
    counts.set(mark, (counts.get(mark) ?? 0) + 1);
  }
  for (const mark of counts.keys()) expect(mark & (mark - 1)).toBe(0);
  expect(counts.size).toBe(MARKS);
  return Math.max(...counts.values());
}

const digest = (n: number) => createHash("sha256").update(`${n}`).digest("hex");

test.each([
  ["digests", digest],
  ["digests with a turn behind", (n: number) => `${digest(n)}@turn-7`],
  ["names that are counted up", (n: number) => `1:1 1:4 call_${n}`],
])("%s have each of the marks, none of them far more often than others", (_, keyOf) => {
  const keys = Array.from({ length: COUNT }, (__, n) => keyOf(n));
  expect(mostOfOneMark(keys)).toBeLessThan((3 * COUNT) / MARKS);
});

test("none of the keys that are there is told to be missing, and most that are not are", () => {
  const there = [...Array.from({ length: 4 }, (_, n) => digest(n)), "", "a", "abc", "abcd"];
  const marks = there.reduce((all, key) => all | markOf(tagOf(key)), NO_MARKS);
  expect(there.map((key) => mayHold(marks, tagOf(key)))).toEqual(there.map(() => true));
  const others = Array.from({ length: COUNT }, (_, n) => tagOf(digest(n + 4)));
  expect(others.filter((tag) => mayHold(marks, tag)).length).toBeLessThan(COUNT / 4);
  expect(others.some((tag) => mayHold(NO_MARKS, tag))).toBe(false);
  expect(others.every((tag) => mayHold(ANY_MARK, tag))).toBe(true);
});

test("tags of digests are hardly ever alike", () => {
  const tags = Array.from({ length: COUNT }, (_, n) => tagOf(digest(n)));
  expect(new Set(tags).size).toBeGreaterThan(0.95 * COUNT);
});
