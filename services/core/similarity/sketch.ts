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
  const hashes = shingleHashes(text).sort();
  const units: number[] = [];
  let kept = 0;
  for (let at = 0; at < hashes.length && kept < SKETCH_SIZE; at++) {
    const hash = hashes[at] as number;
    if (at > 0 && hash === hashes[at - 1]) continue;
    if (kept > 0) units.push(SPACE);
    pushDigits(units, hash);
    kept += 1;
  }
  return String.fromCharCode(...units);
}

/** Jaccard similarity of the shingles behind two sketches: 0 nothing in common, 1 equal. */
export function similarity(a: string, b: string): number {
  const left = hashesOf(a);
  const right = hashesOf(b);
  const isCut = left.length >= SKETCH_SIZE || right.length >= SKETCH_SIZE;
  const most = isCut ? SKETCH_SIZE : Infinity;
  let looked = 0;
  let common = 0;
  // Both are sorted: a walk through their union, smallest first.
  for (let i = 0, j = 0; looked < most && (i < left.length || j < right.length); looked++) {
    const x = left[i] ?? Infinity;
    const y = right[j] ?? Infinity;
    if (x === y) common += 1;
    if (x <= y) i += 1;
    if (y <= x) j += 1;
  }
  return looked === 0 ? 1 : common / looked;
}

const SPACE = 0x20;
const DIGIT_0 = 0x30;
const LETTER_A = 0x61;
const DECIMALS = 10;

/** Three digits: a hash is taken apart in two, of which each is a small integer. */
const HALF = RADIX ** 3;

/** As `toString(36)`, which takes ten times as long. */
function pushDigits(units: number[], hash: number): void {
  const high = Math.floor(hash / HALF);
  if (high > 0) pushHalf(units, high, false);
  pushHalf(units, hash - high * HALF, high > 0);
}

/** `whole`: zeros in front are digits too. The first half may have four digits. */
function pushHalf(units: number[], value: number, whole: boolean): void {
  const tens = (value / RADIX) | 0;
  const hundreds = (tens / RADIX) | 0;
  if (hundreds >= RADIX) units.push(unitOf((hundreds / RADIX) | 0));
  if (whole || hundreds > 0) units.push(unitOf(hundreds % RADIX));
  if (whole || tens > 0) units.push(unitOf(tens % RADIX));
  units.push(unitOf(value % RADIX));
}

function unitOf(digit: number): number {
  return digit < DECIMALS ? DIGIT_0 + digit : LETTER_A + digit - DECIMALS;
}

function hashesOf(sketch: string): number[] {
  const hashes: number[] = [];
  let hash = 0;
  for (let at = 0; at < sketch.length; at++) {
    const unit = sketch.charCodeAt(at);
    if (unit === SPACE) {
      hashes.push(hash);
      hash = 0;
    } else hash = hash * RADIX + (unit < LETTER_A ? unit - DIGIT_0 : unit - LETTER_A + DECIMALS);
  }
  if (sketch !== "") hashes.push(hash);
  return hashes;
}

const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;

/**
 * FNV-1a of three words in a row each, joined by single spaces; of a shorter text, of all its words. One
 * walk: a letter belongs to the shingles that begin with its own word, the one before and the one before that.
 */
function shingleHashes(text: string): Uint32Array {
  const hashes: number[] = [];
  let words = 0;
  let secondLast = FNV_OFFSET;
  let last = FNV_OFFSET;
  for (let at = afterBlank(text, 0); at < text.length; at = afterBlank(text, at)) {
    secondLast = Math.imul(secondLast ^ SPACE, FNV_PRIME);
    last = Math.imul(last ^ SPACE, FNV_PRIME);
    let own = FNV_OFFSET;
    for (; at < text.length; at++) {
      const unit = text.charCodeAt(at);
      if (isBlank(unit)) break;
      secondLast = Math.imul(secondLast ^ unit, FNV_PRIME);
      last = Math.imul(last ^ unit, FNV_PRIME);
      own = Math.imul(own ^ unit, FNV_PRIME);
    }
    words += 1;
    if (words >= WORDS_IN_SHINGLE) hashes.push(mixed(secondLast));
    secondLast = last;
    last = own;
  }
  if (words > 0 && words < WORDS_IN_SHINGLE) hashes.push(mixed(words === 1 ? last : secondLast));
  return new Uint32Array(hashes);
}

function afterBlank(text: string, from: number): number {
  let at = from;
  while (at < text.length && isBlank(text.charCodeAt(at))) at += 1;
  return at;
}

const ASCII_END = 0x80;
const BLANK = /^\s$/;

function isBlank(unit: number): boolean {
  if (unit < ASCII_END) return unit === SPACE || (unit >= 0x09 && unit <= 0x0d);
  return BLANK.test(String.fromCharCode(unit));
}

/** The last mixing of MurmurHash3 on FNV-1a: spread evenly, and the same everywhere. */
function mixed(fnv: number): number {
  let hash = Math.imul(fnv ^ (fnv >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
