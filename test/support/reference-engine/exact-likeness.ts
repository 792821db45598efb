/** How alike two texts are by the definition: no hashes, and no shingle left out. */

/** Jaccard similarity of the sets of three words in a row; for a shorter text, of all its words. */
export function exactLikeness(a: string, b: string): number {
  const left = shinglesOf(a);
  const right = shinglesOf(b);
  const union = new Set([...left, ...right]);
  const common = [...left].filter((shingle) => right.has(shingle));
  return union.size === 0 ? 1 : common.length / union.size;
}

export function shinglesOf(text: string): ReadonlySet<string> {
  const words = text.split(/\s+/).filter((word) => word !== "");
  if (words.length === 0) return new Set();
  const starts = Array.from({ length: Math.max(1, words.length - 2) }, (_, start) => start);
  return new Set(starts.map((start) => words.slice(start, start + 3).join(" ")));
}
