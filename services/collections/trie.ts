/**
 * An immutable map from strings to values: the first few in one array, more in a hash trie of
 * 16-way nodes. `trieSet` copies the path it changes and shares the rest, so that retaining an
 * earlier state means retaining a reference.
 *
 * TRIE-1 iteration order is not part of the contract: a caller that needs an order sorts.
 * TRIE-2 a key whose marks are not all set is none of the first few: see bloom-filter.ts.
 */
import { type Marks, markOf, mayHold, NO_MARKS, otherMarkOf, tagOf } from "./bloom-filter.ts";

/** Called as a function in loops: see docs/style.md, "Loops over texts". */
const { charCodeAt } = String.prototype;

/** Its Bloom filter has the keys of the first few entries. */
export interface Trie<V> extends Marks {
  readonly size: number;
  /** The first few: key, value, key, value. Undefined where there is a root. */
  readonly few: Few<V> | undefined;
  readonly root: TrieNode<V> | undefined;
}

type Few<V> = readonly (string | V)[];

type TrieNode<V> = Branch<V> | Leaf<V>;

interface Branch<V> {
  readonly slots: readonly (TrieNode<V> | undefined)[];
}

interface Leaf<V> {
  readonly slots: undefined;
  readonly hash: number;
  readonly key: string;
  readonly value: V;
  /** Another key with the same 32-bit hash. */
  readonly next: Leaf<V> | undefined;
}

const BITS = 4;
const WIDTH = 16;
const MASK = WIDTH - 1;

/** Up to this many entries are in one array: a scan of it is faster than the nodes would be. */
const FEW = 24;
const STRIDE = 2;

const NONE_MARKED = { marks: NO_MARKS, otherMarks: NO_MARKS };

const EMPTY: Trie<never> = { size: 0, few: [], ...NONE_MARKED, root: undefined };

export function emptyTrie<V>(): Trie<V> {
  return EMPTY;
}

/**
 * FNV-1a over UTF-16 code units as a small integer: larger ones would be boxed. Not for identity:
 * keys with equal hashes are compared.
 */
function hashOf(key: string): number {
  let h = 0x811c9dc5;
  for (let i = 0; i < key.length; i++) {
    h ^= charCodeAt.call(key, i);
    h = Math.imul(h, 0x01000193);
  }
  return h ^ (h >>> 15);
}

export function trieGet<V>(trie: Trie<V>, key: string): V | undefined {
  const { few } = trie;
  if (few === undefined) return find(trie.root, key, hashOf(key));
  const at = findFewIndex(trie, few, key);
  return at < 0 ? undefined : (few[at + 1] as V);
}

/** Index of a key among the first few; -1: absent (TRIE-2). */
function findFewIndex<V>(trie: Trie<V>, few: Few<V>, key: string): number {
  if (!mayHold(trie, tagOf(key))) return -1;
  for (let at = 0; at < few.length; at += STRIDE) if (few[at] === key) return at;
  return -1;
}

function find<V>(root: TrieNode<V> | undefined, key: string, hash: number): V | undefined {
  let node = root;
  let shift = 0;
  while (node !== undefined && node.slots !== undefined) {
    node = node.slots[(hash >>> shift) & MASK];
    shift += BITS;
  }
  let leaf: Leaf<V> | undefined = node;
  while (leaf !== undefined) {
    if (leaf.hash === hash && leaf.key === key) return leaf.value;
    leaf = leaf.next;
  }
  return undefined;
}

export function trieSet<V>(trie: Trie<V>, key: string, value: V): Trie<V> {
  const { few, size, marks, otherMarks } = trie;
  if (few === undefined) return setInTree(trie.root, size, key, value);
  const at = findFewIndex(trie, few, key);
  if (at >= 0) return { size, few: withValue(few, at, value), marks, otherMarks, root: undefined };
  if (size >= FEW) return setInTree(spread(few), size, key, value);
  const tag = tagOf(key);
  return {
    size: size + 1,
    few: withPair(few, key, value),
    marks: marks | markOf(tag),
    otherMarks: otherMarks | otherMarkOf(tag),
    root: undefined,
  };
}

function withValue<V>(few: Few<V>, at: number, value: V): Few<V> {
  const next = few.slice();
  next[at + 1] = value;
  return next;
}

/** Without the spare capacity that a push would allocate. */
function withPair<V>(few: Few<V>, key: string, value: V): Few<V> {
  const next = new Array<string | V>(few.length + STRIDE);
  for (let at = 0; at < few.length; at += 1) next[at] = few[at] as string | V;
  next[few.length] = key;
  next[few.length + 1] = value;
  return next;
}

function setInTree<V>(tree: TrieNode<V> | undefined, size: number, key: string, value: V): Trie<V> {
  const hash = hashOf(key);
  const had = find(tree, key, hash) !== undefined;
  const leaf: Leaf<V> = { slots: undefined, hash, key, value, next: undefined };
  const root = insert(tree, leaf, 0);
  return { size: had ? size : size + 1, few: undefined, ...NONE_MARKED, root };
}

/** Slots that no other trie shares yet. */
type NewSlots<V> = (TrieNode<V> | undefined)[];

function newSlots<V>(): NewSlots<V> {
  return new Array(WIDTH).fill(undefined);
}

/** Moves the first few into slots. */
function spread<V>(few: Few<V>): TrieNode<V> {
  const slots = newSlots<V>();
  for (let at = 0; at < few.length; at += STRIDE) {
    const key = few[at] as string;
    const value = few[at + 1] as V;
    insertNew(slots, { slots: undefined, hash: hashOf(key), key, value, next: undefined }, 0);
  }
  return { slots };
}

/** As `insert`, into slots that no other trie shares, for a key that none of them has. */
function insertNew<V>(slots: NewSlots<V>, leaf: Leaf<V>, shift: number): void {
  const at = (leaf.hash >>> shift) & MASK;
  const there = slots[at];
  if (there === undefined) {
    slots[at] = leaf;
  } else if (there.slots !== undefined) {
    insertNew(there.slots as NewSlots<V>, leaf, shift + BITS);
  } else if (there.hash === leaf.hash) {
    slots[at] = { ...leaf, next: there };
  } else {
    const below = newSlots<V>();
    insertNew(below, there, shift + BITS);
    insertNew(below, leaf, shift + BITS);
    slots[at] = { slots: below };
  }
}

function insert<V>(node: TrieNode<V> | undefined, leaf: Leaf<V>, shift: number): TrieNode<V> {
  if (node === undefined) return leaf;
  if (node.slots !== undefined) {
    const slots = node.slots.slice();
    const at = (leaf.hash >>> shift) & MASK;
    slots[at] = insert(slots[at], leaf, shift + BITS);
    return { slots };
  }
  if (node.hash === leaf.hash) return { ...leaf, next: without(node, leaf.key) };
  const slots = newSlots<V>();
  slots[(node.hash >>> shift) & MASK] = node;
  return insert({ slots }, leaf, shift);
}

function without<V>(leaf: Leaf<V> | undefined, key: string): Leaf<V> | undefined {
  if (leaf === undefined) return undefined;
  if (leaf.key === key) return leaf.next;
  const { hash, key: leafKey, value } = leaf;
  return { slots: undefined, hash, key: leafKey, value, next: without(leaf.next, key) };
}

export function trieDelete<V>(trie: Trie<V>, key: string): Trie<V> {
  const { few, root, size } = trie;
  if (few === undefined) {
    const hash = hashOf(key);
    if (find(root, key, hash) === undefined) return trie;
    if (size === 1) return emptyTrie();
    return { size: size - 1, few, ...NONE_MARKED, root: remove(root, hash, key, 0) };
  }
  const at = findFewIndex(trie, few, key);
  if (at < 0) return trie;
  if (size === 1) return emptyTrie();
  const left = few.toSpliced(at, STRIDE);
  return { size: size - 1, few: left, ...marksOf(left), root: undefined };
}

function marksOf<V>(few: Few<V>): Marks {
  let marks = NO_MARKS;
  let otherMarks = NO_MARKS;
  for (let at = 0; at < few.length; at += STRIDE) {
    const tag = tagOf(few[at] as string);
    marks |= markOf(tag);
    otherMarks |= otherMarkOf(tag);
  }
  return { marks, otherMarks };
}

function remove<V>(
  node: TrieNode<V> | undefined,
  hash: number,
  key: string,
  shift: number,
): TrieNode<V> | undefined {
  if (node === undefined) return undefined;
  if (node.slots === undefined) return without(node, key);
  const slots = node.slots.slice();
  const at = (hash >>> shift) & MASK;
  const rest = remove(slots[at], hash, key, shift + BITS);
  slots[at] = rest;
  return rest === undefined && slots.every((slot) => slot === undefined) ? undefined : { slots };
}

/** Visits all entries, in no particular order (TRIE-1), until a visit returns true. */
export function trieVisit<V>(
  { few, root }: Trie<V>,
  visit: (value: V, key: string) => boolean,
): boolean {
  if (few === undefined) return root !== undefined && visited(root, visit);
  for (let at = 0; at < few.length; at += STRIDE) {
    if (visit(few[at + 1] as V, few[at] as string)) return true;
  }
  return false;
}

function visited<V>(node: TrieNode<V>, visit: (value: V, key: string) => boolean): boolean {
  if (node.slots === undefined) {
    for (let leaf: Leaf<V> | undefined = node; leaf !== undefined; leaf = leaf.next) {
      if (visit(leaf.value, leaf.key)) return true;
    }
    return false;
  }
  for (const slot of node.slots) {
    if (slot !== undefined && visited(slot, visit)) return true;
  }
  return false;
}

/** All entries, in no particular order (TRIE-1). Slower than a visit. */
export function* trieEntries<V>({ few, root }: Trie<V>): Generator<readonly [string, V]> {
  for (let at = 0; few !== undefined && at < few.length; at += STRIDE) {
    yield [few[at] as string, few[at + 1] as V];
  }
  if (root !== undefined) yield* entriesOf(root);
}

function* entriesOf<V>(node: TrieNode<V>): Generator<readonly [string, V]> {
  if (node.slots === undefined) {
    for (let leaf: Leaf<V> | undefined = node; leaf !== undefined; leaf = leaf.next) {
      yield [leaf.key, leaf.value];
    }
    return;
  }
  for (const slot of node.slots) {
    if (slot !== undefined) yield* entriesOf(slot);
  }
}

/** All entries, sorted by key in UTF-16 order: the order for digests and snapshots. */
export function trieSorted<V>(trie: Trie<V>): (readonly [string, V])[] {
  const entries: (readonly [string, V])[] = [];
  trieVisit(trie, (value, key) => {
    entries.push([key, value]);
    return false;
  });
  return entries.sort((a, b) => (a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0));
}
