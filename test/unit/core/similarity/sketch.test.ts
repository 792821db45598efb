import { describe, expect, test } from "vitest";
import { similarity, sketchOf } from "../../../../services/core/similarity/sketch.ts";
import { shinglesOf } from "../../../support/reference-engine/exact-likeness.ts";

/** FNV-1a with the final mixing of MurmurHash3. */
function hashOf(shingle: string): number {
  let hash = 0x811c9dc5;
  for (const unit of shingle.split("")) hash = Math.imul(hash ^ unit.charCodeAt(0), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

function smallest(hashes: readonly number[]): readonly number[] {
  return [...new Set(hashes)].sort((x, y) => x - y).slice(0, 256);
}

function hashesOf(text: string): readonly number[] {
  return smallest([...shinglesOf(text)].map(hashOf));
}

const words = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, n) => `w${from + n}`).join(" ");

describe("a sketch", () => {
  test.each([
    ["nothing", ""],
    ["blanks", " \t\n "],
    ["one word", "a"],
    ["two words", "a b"],
    ["three words", "a b c"],
    ["four words", "a b c d"],
    ["a shingle twice", "a b c a b c a b c"],
    ["every blank of ASCII", "\ta\nb\u000bc\fd\re f"],
    ["no blanks beside them", "a\u0008b c\u000ed e\u001ff g\u0080h i"],
    ["other blanks", "a\u00a0b\u3000c\u2028d"],
    ["255 words and two", words(0, 257)],
    ["256 shingles", words(0, 258)],
    ["257 shingles", words(0, 259)],
  ])("of %s consists of its smallest hashes in base 36", (_what, text) => {
    expect(sketchOf(text)).toBe(
      hashesOf(text)
        .map((hash) => hash.toString(36))
        .join(" "),
    );
  });

  // Found by trial: words whose hash has few digits, or ends with zeros.
  test.each([
    ["mnlvlc", "q"],
    ["ahjcib", "vh"],
    ["zqbvwe", "y0"],
    ["aaetck", "z92"],
    ["aehvcl", "ht0"],
    ["aaahgn", "9n0w"],
    ["aavdvx", "33a0"],
    ["aaalfe", "10ccv"],
    ["aalhua", "10023r"],
    ["aagobq", "1000xsk"],
  ])("of `%s` is %s", (word, sketch) => {
    expect(sketchOf(word)).toBe(sketch);
    expect(similarity(sketch, sketch)).toBe(1);
    expect(similarity(sketchOf(word), sketchOf(`${word} and more`))).toBe(0);
  });
});

describe("similarity", () => {
  const alike = (a: string, b: string) => similarity(sketchOf(a), sketchOf(b));

  test("of two empty texts is 1, and of one empty text 0", () => {
    expect([alike("", ""), alike("", "a"), alike("a", "")]).toEqual([1, 0, 0]);
  });

  test("is exact for texts that fit into a sketch", () => {
    expect(alike("a b c d", "b c d e")).toBe(1 / 3);
  });

  test("of a short text does not depend on earlier comparisons", () => {
    const long = sketchOf(words(0, 60));
    const short = long.split(" ").slice(0, 3).join(" ");
    expect(similarity(long, long)).toBe(1);
    expect([similarity(short, long), similarity(long, short)]).toEqual([3 / 58, 3 / 58]);
  });

  test.each([
    ["both", words(0, 300), words(100, 400)],
    ["the first", words(0, 300), words(0, 40)],
    ["the second", words(0, 40), words(0, 300)],
    ["just as long as a sketch, the first", words(0, 258), words(200, 240)],
    ["just as long as a sketch, the second", words(200, 240), words(0, 258)],
  ])("where %s: is computed from the smallest hashes of both", (_what, a, b) => {
    const [left, right] = [hashesOf(a), hashesOf(b)];
    const looked = smallest([...left, ...right]);
    const common = looked.filter((hash) => left.includes(hash) && right.includes(hash));
    expect(alike(a, b)).toBe(common.length / looked.length);
  });
});
