/**
 * How alike two texts are, from sketches of bounded size: the `SKETCH_SIZE` smallest hashes of the
 * shingles of a text (three words in a row each). For texts with at most that many shingles the
 * similarity is exact; for longer ones it is estimated, with a standard error of
 * sqrt(s(1-s)/SKETCH_SIZE): 0.019 at 0.9.
 */

export const SKETCH_SIZE = 256;

const WORDS_IN_SHINGLE = 3;
const RADIX = 36;

/** The sketch as text: smallest first. */
export function sketchOf(text: string): string {
  const words = text.split(/\s+/).filter((word) => word !== "");
  if (words.length === 0) return "";
  const hashes = new Set<number>();
  for (let at = 0; at === 0 || at + WORDS_IN_SHINGLE <= words.length; at += 1) {
    hashes.add(hashOf(words.slice(at, at + WORDS_IN_SHINGLE).join(" ")));
  }
  return smallest(hashes)
    .map((hash) => hash.toString(RADIX))
    .join(" ");
}

/** Jaccard similarity of the shingles behind two sketches: 0 nothing in common, 1 equal. */
export function similarity(a: string, b: string): number {
  const left = hashesIn(a);
  const right = hashesIn(b);
  const union = new Set([...left, ...right]);
  const isCut = left.size === SKETCH_SIZE || right.size === SKETCH_SIZE;
  // Beyond the size of a sketch, a missing hash may have been cut off.
  const looked = isCut ? smallest(union) : [...union];
  if (looked.length === 0) return 1;
  return looked.filter((hash) => left.has(hash) && right.has(hash)).length / looked.length;
}

function hashesIn(sketch: string): ReadonlySet<number> {
  if (sketch === "") return new Set();
  return new Set(sketch.split(" ").map((digits) => Number.parseInt(digits, RADIX)));
}

function smallest(hashes: ReadonlySet<number>): readonly number[] {
  return [...hashes].sort((a, b) => a - b).slice(0, SKETCH_SIZE);
}

/**
 * FNV-1a over UTF-16 code units with the final mixing of MurmurHash3: evenly spread, and the same
 * on every machine.
 */
function hashOf(shingle: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < shingle.length; at += 1) {
    hash = Math.imul(hash ^ shingle.charCodeAt(at), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
