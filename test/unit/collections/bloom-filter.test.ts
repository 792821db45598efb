import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import {
  ANY_MARK,
  markOf,
  mayHold,
  NO_MARKS,
  otherMarkOf,
  tagOf,
} from "../../../services/collections/bloom-filter.ts";

const COUNT = 4_096;
const MARKS = 32;

/** The number of keys that share the most common mark. */
function mostOfOneMark(keys: readonly string[], markOf: (tag: number) => number): number {
  const counts = new Map<number, number>();
  for (const one of keys.map((name) => markOf(tagOf(name)))) {
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

test("one mark of a key is independent of the other", () => {
  const tags = Array.from({ length: COUNT }, (_, n) => tagOf(digest(n)));
  const both = new Set(tags.map((tag) => `${markOf(tag)} ${otherMarkOf(tag)}`));
  expect(both.size).toBeGreaterThan(0.9 * MARKS * MARKS);
});

test("no present key is reported as absent, and most absent ones are", () => {
  const there = [...Array.from({ length: 4 }, (_, n) => digest(n)), "", "a", "abc", "abcd"];
  const marks = there.reduce((all, key) => all | markOf(tagOf(key)), NO_MARKS);
  const more = there.reduce((all, key) => all | otherMarkOf(tagOf(key)), NO_MARKS);
  const isSeen = (key: string) => mayHold({ marks, otherMarks: more }, tagOf(key));
  expect(there.map(isSeen)).toEqual(there.map(() => true));
  const others = Array.from({ length: COUNT }, (_, n) => tagOf(digest(n + 4)));
  const seen = (one: number, other: number) =>
    others.filter((tag) => mayHold({ marks: one, otherMarks: other }, tag)).length;
  expect(seen(marks, more)).toBeLessThan(COUNT / 12);
  expect(seen(marks, ANY_MARK)).toBeGreaterThan(COUNT / 10);
  expect(seen(ANY_MARK, more)).toBeGreaterThan(COUNT / 10);
  expect(seen(NO_MARKS, ANY_MARK)).toBe(0);
  expect(seen(ANY_MARK, NO_MARKS)).toBe(0);
  expect(seen(ANY_MARK, ANY_MARK)).toBe(COUNT);
});

test("tags of digests are hardly ever equal", () => {
  const tags = Array.from({ length: COUNT }, (_, n) => tagOf(digest(n)));
  expect(new Set(tags).size).toBeGreaterThan(0.95 * COUNT);
});
