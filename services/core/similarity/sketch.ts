/**
 * How alike two texts are, from sketches of bounded size: the `SKETCH_SIZE` smallest hashes of the
 * shingles of a text (three words in a row each). Of texts with no more shingles than that the
 * similarity is exact; of longer ones it is estimated, with a standard error of
 * sqrt(s(1-s)/SKETCH_SIZE): 0.019 at 0.9.
 */

/** Called as a function in loops: see docs/style.md, "Loops over texts". */
const { charCodeAt } = String.prototype;

export const SKETCH_SIZE = 256;

const WORDS_IN_SHINGLE = 3;
const RADIX = 36;

/** The sketch as text: smallest first. */
export function sketchOf(text: string): string {
  const count = shingleHashes(text);
  sortHashes(count);
  let end = 0;
  let kept = 0;
  for (let at = 0; at < count && kept < SKETCH_SIZE; at++) {
    const hash = hashes[at] as number;
    if (at > 0 && hash === hashes[at - 1]) continue;
    if (kept > 0) units[end++] = SPACE;
    end = digitsInto(end, hash);
    kept += 1;
  }
  return asText(end);
}

/** Jaccard similarity of the shingles behind two sketches: 0 nothing in common, 1 equal. */
export function similarity(a: string, b: string): number {
  const lefts = read(a, left);
  const rights = read(b, right);
  const isCut = lefts === SKETCH_SIZE || rights === SKETCH_SIZE;
  const most = isCut ? SKETCH_SIZE : lefts + rights;
  let looked = 0;
  let common = 0;
  // Both are sorted: a walk through their union, smallest first.
  let i = 0;
  let j = 0;
  while (looked < most && i < lefts && j < rights) {
    const x = left[i] as number;
    const y = right[j] as number;
    if (x === y) common += 1;
    if (x <= y) i += 1;
    if (y <= x) j += 1;
    looked += 1;
  }
  // What only one of them has left.
  looked = Math.min(most, looked + lefts - i + rights - j);
  return looked === 0 ? 1 : common / looked;
}

const SPACE = 0x20;
const DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz";
/** Of tables: which digit comes next cannot be foretold, so that branches would often be taken wrongly. */
const unitOf = Uint8Array.from(DIGITS, (digit) => charCodeAt.call(digit, 0));
const digitOf = new Uint8Array(128);
for (const [value, unit] of unitOf.entries()) digitOf[unit] = value;

/** Three digits: a hash is taken apart in two, of which each is a small integer. */
const HALF = RADIX ** 3;

/** Digits of the largest hash, and the space before it. */
const PLACES_MAX = 8;

/** Where the text of a sketch is put together, and the hashes of its shingles: longer for longer texts. */
const units = new Uint8Array(SKETCH_SIZE * PLACES_MAX);
let hashes = new Uint32Array(1_024);

/** As `toString(36)`, which takes ten times as long. Gives the end. */
function digitsInto(start: number, hash: number): number {
  const high = Math.floor(hash / HALF);
  const low = hash - high * HALF;
  if (high === 0) return halfInto(start, low, digitsOf(low));
  return halfInto(halfInto(start, high, digitsOf(high)), low, 3);
}

/** Of a half: the first may have four digits. */
function digitsOf(value: number): number {
  if (value < RADIX) return 1;
  if (value < RADIX ** 2) return 2;
  return value < HALF ? 3 : 4;
}

function halfInto(start: number, value: number, digits: number): number {
  let rest = value | 0;
  for (let at = start + digits - 1; at >= start; at--) {
    const above = (rest / RADIX) | 0;
    units[at] = unitOf[rest - above * RADIX] as number;
    rest = above;
  }
  return start + digits;
}

/** Lists to make texts of, by their length: one made for each text would be most of what that leaves behind. */
const LISTED_MAX = 256;
const lists: (number[] | undefined)[] = new Array(LISTED_MAX + 1).fill(undefined);

function asText(end: number): string {
  if (end > LISTED_MAX) return String.fromCharCode(...units.subarray(0, end));
  let list = lists[end];
  if (list === undefined) {
    list = new Array<number>(end).fill(0);
    lists[end] = list;
  }
  for (let at = 0; at < end; at++) list[at] = units[at] as number;
  return String.fromCharCode.apply(null, list);
}

/** So few are sorted sooner by hand than by a call of the engine's own. */
const FEW = 32;

function sortHashes(count: number): void {
  if (count > FEW) {
    hashes.subarray(0, count).sort();
    return;
  }
  for (let at = 1; at < count; at++) {
    const hash = hashes[at] as number;
    let to = at;
    for (; to > 0 && (hashes[to - 1] as number) > hash; to--) {
      hashes[to] = hashes[to - 1] as number;
    }
    hashes[to] = hash;
  }
}

/** Where the hashes of two sketches are put that are compared. */
const left = new Uint32Array(SKETCH_SIZE);
const right = new Uint32Array(SKETCH_SIZE);

/** Gives how many there are. */
function read(sketch: string, into: Uint32Array): number {
  if (sketch === "") return 0;
  let count = 0;
  let hash = 0;
  for (let at = 0; at < sketch.length; at++) {
    const unit = charCodeAt.call(sketch, at);
    if (unit === SPACE) {
      into[count++] = hash;
      hash = 0;
    } else {
      hash = Math.imul(hash, RADIX) + (digitOf[unit] as number);
    }
  }
  into[count] = hash;
  return count + 1;
}

const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;

/**
 * Lays out FNV-1a of three words in a row each, joined by single spaces; of a shorter text, of all its words.
 * Gives how many. One walk: a letter belongs to the shingles that begin with its own word, the one before and the one before that.
 */
function shingleHashes(text: string): number {
  let count = 0;
  let words = 0;
  let secondLast = FNV_OFFSET;
  let last = FNV_OFFSET;
  for (let at = afterBlank(text, 0); at < text.length; at = afterBlank(text, at)) {
    secondLast = Math.imul(secondLast ^ SPACE, FNV_PRIME);
    last = Math.imul(last ^ SPACE, FNV_PRIME);
    let own = FNV_OFFSET;
    for (; at < text.length; at++) {
      const unit = charCodeAt.call(text, at);
      if (isBlank(unit)) break;
      secondLast = Math.imul(secondLast ^ unit, FNV_PRIME);
      last = Math.imul(last ^ unit, FNV_PRIME);
      own = Math.imul(own ^ unit, FNV_PRIME);
    }
    words += 1;
    if (words >= WORDS_IN_SHINGLE) count = put(count, mixed(secondLast));
    secondLast = last;
    last = own;
  }
  if (words === 0 || words >= WORDS_IN_SHINGLE) return count;
  return put(count, mixed(words === 1 ? last : secondLast));
}

/** Gives how many there are then. */
function put(at: number, hash: number): number {
  if (at === hashes.length) {
    const longer = new Uint32Array(2 * at);
    longer.set(hashes);
    hashes = longer;
  }
  hashes[at] = hash;
  return at + 1;
}

function afterBlank(text: string, from: number): number {
  let at = from;
  while (at < text.length && isBlank(charCodeAt.call(text, at))) at += 1;
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
