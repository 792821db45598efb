import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import {
  ANY_MARK,
  markOf,
  mayHold,
  NO_MARKS,
  otherMarkOf,
  tagOf,
} from "../../../../services/core/persistent/key-mark.ts";

const COUNT = 4_096;
const MARKS = 32;

/** How many keys have the mark that most of them have. */
function mostOfOneMark(keys: readonly string[], mark: (tag: number) => number): number {
  const counts = new Map<number, number>();
  for (const one of keys.map((key) => mark(tagOf(key)))) {
    counts.set(one, (counts.get(one) ?? 0) + 1);
  }
  for (const one of counts.keys()) expect(one & (one - 1)).toBe(0);
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
  expect(mostOfOneMark(keys, markOf)).toBeLessThan((3 * COUNT) / MARKS);
  expect(mostOfOneMark(keys, otherMarkOf)).toBeLessThan((3 * COUNT) / MARKS);
});

test("one mark of a key tells nothing of the other", () => {
  const tags = Array.from({ length: COUNT }, (_, n) => tagOf(digest(n)));
  const both = new Set(tags.map((tag) => `${markOf(tag)} ${otherMarkOf(tag)}`));
  expect(both.size).toBeGreaterThan(0.9 * MARKS * MARKS);
});

test("none of the keys that are there is told to be missing, and most that are not are", () => {
  const there = [...Array.from({ length: 4 }, (_, n) => digest(n)), "", "a", "abc", "abcd"];
  const marks = there.reduce((all, key) => all | markOf(tagOf(key)), NO_MARKS);
  const more = there.reduce((all, key) => all | otherMarkOf(tagOf(key)), NO_MARKS);
  const isSeen = (key: string) => mayHold(marks, more, tagOf(key));
  expect(there.map(isSeen)).toEqual(there.map(() => true));
  const others = Array.from({ length: COUNT }, (_, n) => tagOf(digest(n + 4)));
  expect(others.filter((tag) => mayHold(marks, more, tag)).length).toBeLessThan(COUNT / 12);
  expect(others.filter((tag) => mayHold(marks, ANY_MARK, tag)).length).toBeGreaterThan(COUNT / 10);
  expect(others.filter((tag) => mayHold(ANY_MARK, more, tag)).length).toBeGreaterThan(COUNT / 10);
  expect(others.some((tag) => mayHold(NO_MARKS, ANY_MARK, tag))).toBe(false);
  expect(others.some((tag) => mayHold(ANY_MARK, NO_MARKS, tag))).toBe(false);
  expect(others.every((tag) => mayHold(ANY_MARK, ANY_MARK, tag))).toBe(true);
});

test("tags of digests are hardly ever alike", () => {
  const tags = Array.from({ length: COUNT }, (_, n) => tagOf(digest(n)));
  expect(new Set(tags).size).toBeGreaterThan(0.95 * COUNT);
});
