// Compares the estimate of how alike two texts are with the exact value over all their shingles.
import fc from "fast-check";
import { expect, test } from "vitest";
import { SKETCH_SIZE, similarity, sketchOf } from "../../../../services/core/similarity/sketch.ts";
import {
  exactLikeness as exact,
  shinglesOf,
} from "../../../support/reference-engine/exact-likeness.ts";

const SEED = 20_260_101;

const word = fc.constantFrom(..."abcdefghijklmnop");
const text = fc.array(word, { maxLength: 80 }).map((words) => words.join(" "));

test("similarity is exact for texts that fit into a sketch", () => {
  fc.assert(
    fc.property(text, text, (a, b) => {
      expect(similarity(sketchOf(a), sketchOf(b))).toBe(exact(a, b));
    }),
    { seed: SEED },
  );
});

/** FNV-1a with the final mixing of MurmurHash3, digit by digit as the platform prints them. */
function plainSketch(text: string): string {
  const hashes = [...shinglesOf(text)].map((shingle) => {
    let hash = 0x811c9dc5;
    for (const unit of shingle.split("")) hash = Math.imul(hash ^ unit.charCodeAt(0), 0x01000193);
    hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
    hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
    return (hash ^ (hash >>> 16)) >>> 0;
  });
  const smallest = [...new Set(hashes)].sort((x, y) => x - y).slice(0, SKETCH_SIZE);
  return smallest.map((hash) => hash.toString(36)).join(" ");
}

test("a sketch equals the smallest hashes of a plain implementation", () => {
  const part = fc.constantFrom(
    "a",
    "bär",
    "😀",
    " ",
    "  ",
    "\n",
    "\t",
    "\u00a0",
    "\u3000",
    "\u200b",
    "x y",
  );
  const any = fc.oneof(
    fc.array(part, { maxLength: 600 }).map((parts) => parts.join("")),
    text,
  );
  fc.assert(
    fc.property(any, (input) => {
      expect(sketchOf(input)).toBe(plainSketch(input));
    }),
    { seed: SEED },
  );
});

test("similarity is symmetric, 1 for a text with itself, and between 0 and 1", () => {
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

test("similarity of long texts is off at 0.9 by its standard error in the mean, and by four of them at most", () => {
  const expected = Math.sqrt((0.9 * 0.1) / SKETCH_SIZE);
  const errors = Array.from({ length: 200 }, (_, n) => {
    const words = Array.from({ length: 3_000 }, (__, at) => `w${n}x${at}`);
    // Every 57th word differs: of 57 shingles three differ, so 54 of 60 are common.
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
