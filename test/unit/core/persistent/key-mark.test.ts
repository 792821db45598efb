import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import {
  ANY_MARK,
  markOf,
  mayHold,
  NO_MARKS,
} from "../../../../services/core/persistent/key-mark.ts";

const COUNT = 4_096;
const MARKS = 32;

/** How many keys have the mark that most of them have. */
function mostOfOneMark(keys: readonly string[]): number {
  const counts = new Map<number, number>();
  for (const key of keys) counts.set(markOf(key), (counts.get(markOf(key)) ?? 0) + 1);
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

test("a key that is too short to tell has every mark", () => {
  expect(["", "a", "ab", "abc"].map(markOf)).toEqual(Array(4).fill(ANY_MARK));
  expect(markOf("abcd")).not.toBe(ANY_MARK);
});

test("none of the keys that are there is told to be missing, and most that are not are", () => {
  const there = Array.from({ length: 4 }, (_, n) => digest(n));
  const marks = there.reduce((all, key) => all | markOf(key), NO_MARKS);
  expect([...there, "a", ""].map((key) => mayHold(marks, key))).toEqual(Array(6).fill(true));
  const others = Array.from({ length: COUNT }, (_, n) => digest(n + 4));
  expect(others.filter((key) => mayHold(marks, key)).length).toBeLessThan(COUNT / 4);
  expect(others.some((key) => mayHold(NO_MARKS, key))).toBe(false);
  expect(others.every((key) => mayHold(ANY_MARK, key))).toBe(true);
});
