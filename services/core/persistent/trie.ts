/**
 * An immutable map from strings to values: a hash trie of 16-way nodes. `trieSet` copies the path
 * it changes and shares the rest, so that keeping an earlier state is keeping a reference.
 *
 * T1 iteration order is not part of the contract: whoever needs an order sorts, or keeps one.
 * T2 a key whose mark a chain lacks stands in none of its leaves: see key-mark.ts.
 */
import { ANY_MARK, markOf, NO_MARKS } from "./key-mark.ts";

/** Called as a function in loops: see docs/style.md, "Loops over texts". */
const { charCodeAt } = String.prototype;

export interface Trie<V> {
  readonly root: TrieNode<V> | undefined;
  readonly size: number;
  /** The marks of a chain's keys; where there are slots, nobody asks for them. */
  readonly marks: number;
}

type TrieNode<V> = Branch<V> | Leaf<V>;

interface Branch<V> {
  readonly slots: readonly (TrieNode<V> | undefined)[];
}

interface Leaf<V> {
  readonly slots: undefined;
  /** Of a chain at the root: 0, as nobody asks for it. */
  readonly hash: number;
  readonly key: string;
  readonly value: V;
  /** Other keys of the same 32-bit hash; at the root, of any hash. */
  readonly next: Leaf<V> | undefined;
}

const BITS = 4;
const WIDTH = 16;
const MASK = WIDTH - 1;

/** So many leaves stand at the root in a chain: a node of slots has room for more than most maps ever hold. */
const FEW = 16;

const EMPTY: Trie<never> = { root: undefined, size: 0, marks: NO_MARKS };

export function emptyTrie<V>(): Trie<V> {
  return EMPTY;
}

/**
 * FNV-1a over UTF-16 code units, a small integer: those beyond would each be boxed. Not for identity:
 * equal hashes are told apart by their keys.
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
  const { root, marks } = trie;
  if (root === undefined) return undefined;
  if (root.slots !== undefined) return find(root, key, hashOf(key));
  return (marks & markOf(key)) === 0 ? undefined : inChain(root, key);
}

/** Of so few keys none is hashed: most differ in length or in their first letters. */
function inChain<V>(chain: Leaf<V>, key: string): V | undefined {
  let leaf: Leaf<V> | undefined = chain;
  while (leaf !== undefined && leaf.key !== key) leaf = leaf.next;
  return leaf?.value;
}

function find<V>(root: TrieNode<V>, key: string, hash: number): V | undefined {
  let node: TrieNode<V> | undefined = root;
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
  const { root, size } = trie;
  if (root === undefined || root.slots === undefined) {
    const mark = markOf(key);
    const had = root !== undefined && (trie.marks & mark) !== 0 && inChain(root, key) !== undefined;
    if (had || size < FEW) {
      const next = had ? without(root, key) : root;
      const chain: Leaf<V> = { slots: undefined, hash: 0, key, value, next };
      return { root: chain, size: had ? size : size + 1, marks: trie.marks | mark };
    }
  }
  return setInTree(trie, key, value);
}

function setInTree<V>({ root, size }: Trie<V>, key: string, value: V): Trie<V> {
  const hash = hashOf(key);
  const tree = root?.slots === undefined ? spread(root) : root;
  const had = find(tree, key, hash) !== undefined;
  const leaf: Leaf<V> = { slots: undefined, hash, key, value, next: undefined };
  return { root: insert(tree, leaf, 0), size: had ? size : size + 1, marks: ANY_MARK };
}

/** Slots that nobody else has seen yet. */
type NewSlots<V> = (TrieNode<V> | undefined)[];

function newSlots<V>(): NewSlots<V> {
  return new Array(WIDTH).fill(undefined);
}

/** The leaves of a chain in slots. */
function spread<V>(chain: Leaf<V> | undefined): TrieNode<V> {
  const slots = newSlots<V>();
  for (let leaf: Leaf<V> | undefined = chain; leaf !== undefined; leaf = leaf.next) {
    const { key, value } = leaf;
    place(slots, { slots: undefined, hash: hashOf(key), key, value, next: undefined }, 0);
  }
  return { slots };
}

/** As `insert`, into slots that are all new, of a key that stands in none of them. */
function place<V>(slots: NewSlots<V>, leaf: Leaf<V>, shift: number): void {
  const at = (leaf.hash >>> shift) & MASK;
  const there = slots[at];
  if (there === undefined) {
    slots[at] = leaf;
  } else if (there.slots !== undefined) {
    place(there.slots as NewSlots<V>, leaf, shift + BITS);
  } else if (there.hash === leaf.hash) {
    slots[at] = { ...leaf, next: there };
  } else {
    const below = newSlots<V>();
    place(below, there, shift + BITS);
    place(below, leaf, shift + BITS);
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
  const { hash, key: kept, value } = leaf;
  return { slots: undefined, hash, key: kept, value, next: without(leaf.next, key) };
}

export function trieDelete<V>(trie: Trie<V>, key: string): Trie<V> {
  const { root, size } = trie;
  if (root === undefined || trieGet(trie, key) === undefined) return trie;
  if (size === 1) return emptyTrie();
  if (root.slots === undefined) {
    const chain = without(root, key);
    return { root: chain, size: size - 1, marks: marksOf(chain) };
  }
  return { root: remove(root, hashOf(key), key, 0), size: size - 1, marks: ANY_MARK };
}

function marksOf<V>(chain: Leaf<V> | undefined): number {
  let marks = NO_MARKS;
  for (let leaf = chain; leaf !== undefined; leaf = leaf.next) marks |= markOf(leaf.key);
  return marks;
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

/** Visits all entries, in no particular order (T1), until a visit gives true. */
export function trieVisit<V>(trie: Trie<V>, visit: (value: V, key: string) => boolean): boolean {
  return trie.root !== undefined && visited(trie.root, visit);
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

/** All entries, in no particular order (T1). Slower than a visit. */
export function* trieEntries<V>(trie: Trie<V>): Generator<readonly [string, V]> {
  if (trie.root !== undefined) yield* entriesOf(trie.root);
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
  return [...trieEntries(trie)].sort((a, b) => (a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0));
}
