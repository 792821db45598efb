// The estimate of how alike two texts are, against the exact value over all their shingles.
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  SKETCH_SIZE,
  shingles,
  similarity,
  sketchOf,
} from "../../../../services/core/similarity/sketch.ts";

const SEED = 20_260_101;

function exact(a: string, b: string): number {
  const left = shingles(a);
  const right = shingles(b);
  const union = new Set([...left, ...right]);
  return union.size === 0 ? 1 : [...left].filter((hash) => right.has(hash)).length / union.size;
}

const word = fc.constantFrom(..."abcdefghijklmnop");
const text = fc.array(word, { maxLength: 80 }).map((words) => words.join(" "));

test("is exact of texts that a sketch holds whole", () => {
  fc.assert(
    fc.property(text, text, (a, b) => {
      expect(similarity(sketchOf(a), sketchOf(b))).toBe(exact(a, b));
    }),
    { seed: SEED },
  );
});

test("is symmetric, 1 of a text with itself, and never beyond 0 and 1", () => {
  fc.assert(
    fc.property(text, text, (a, b) => {
      const [left, right] = [sketchOf(a), sketchOf(b)];
      const alike = similarity(left, right);
      expect(alike).toBe(similarity(right, left));
      expect(alike).toBeGreaterThanOrEqual(0);
      expect(alike).toBeLessThanOrEqual(1);
      expect(similarity(left, left)).toBe(1);
    }),
    { seed: SEED },
  );
});

test("of long texts is off at 0.9 by its standard error in the mean, and by four of them at most", () => {
  const expected = Math.sqrt((0.9 * 0.1) / SKETCH_SIZE);
  const errors = Array.from({ length: 200 }, (_, n) => {
    const words = Array.from({ length: 3_000 }, (__, at) => `w${n}x${at}`);
    // Every 57th word is another one: three shingles of 57 differ, so 54 of 60 are common.
    const other = words.map((each, at) => (at % 57 === 0 ? `${each}!` : each));
    const [a, b] = [words.join(" "), other.join(" ")];
    expect(exact(a, b)).toBeCloseTo(0.9, 2);
    return similarity(sketchOf(a), sketchOf(b)) - exact(a, b);
  });
  const rms = Math.sqrt(errors.reduce((sum, error) => sum + error * error, 0) / errors.length);
  expect(rms).toBeLessThan(1.2 * expected);
  expect(Math.max(...errors.map(Math.abs))).toBeLessThan(4 * expected);
});

test("a sketch is bounded, however long the text", () => {
  const long = Array.from({ length: 50_000 }, (_, n) => `w${n}`).join(" ");
  expect(sketchOf(long).split(" ")).toHaveLength(SKETCH_SIZE);
  expect(sketchOf(long).length).toBeLessThan(8 * SKETCH_SIZE);
});
