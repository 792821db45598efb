/**
 * How alike two texts are, from sketches of bounded size: the `SKETCH_SIZE` smallest hashes of the
 * shingles of a text (three words in a row each). Of texts with no more shingles than that the
 * similarity is exact; of longer ones it is estimated, with a standard error of
 * sqrt(s(1-s)/SKETCH_SIZE): 0.019 at 0.9.
 */

export const SKETCH_SIZE = 256;

const WORDS_IN_SHINGLE = 3;
const RADIX = 36;

/** The sketch as text: smallest first. */
export function sketchOf(text: string): string {
  const smallest = [...shingles(text)].sort((a, b) => a - b).slice(0, SKETCH_SIZE);
  return smallest.map((hash) => hash.toString(RADIX)).join(" ");
}

/** Jaccard similarity of the shingles behind two sketches: 0 nothing in common, 1 equal. */
export function similarity(a: string, b: string): number {
  const left = hashesOf(a);
  const right = hashesOf(b);
  const both = new Set(left);
  const union = [...new Set([...left, ...right])].sort((x, y) => x - y);
  const isCut = left.length >= SKETCH_SIZE || right.length >= SKETCH_SIZE;
  const looked = isCut ? union.slice(0, SKETCH_SIZE) : union;
  if (looked.length === 0) return 1;
  const others = new Set(right);
  const common = looked.filter((hash) => both.has(hash) && others.has(hash)).length;
  return common / looked.length;
}

function hashesOf(sketch: string): number[] {
  return sketch === "" ? [] : sketch.split(" ").map((hash) => Number.parseInt(hash, RADIX));
}

/** Hashes of three words in a row each; of a shorter text, of all its words. */
export function shingles(text: string): ReadonlySet<number> {
  const words = text.split(/\s+/).filter((word) => word !== "");
  const hashes = new Set<number>();
  if (words.length === 0) return hashes;
  const last = Math.max(0, words.length - WORDS_IN_SHINGLE);
  for (let at = 0; at <= last; at++) {
    hashes.add(hash32(words.slice(at, at + WORDS_IN_SHINGLE).join(" ")));
  }
  return hashes;
}

/** FNV-1a with the last mixing of MurmurHash3: spread evenly, and the same everywhere. */
function hash32(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
