/**
 * An immutable queue of elements that end, the first to end at its head, ordered by (dropAt,
 * order). Ends almost always come in rising order, since windows of one kind are equally long:
 * those elements are in one array, the line, which versions share. Nothing in it ever changes, and
 * each version knows its range. The latest version appends in place; another copies its range. An
 * element that comes out of order goes to a heap.
 */

export interface DropQueue {
  /** Three slots for each element: end, order, key. */
  readonly line: (number | string)[];
  /** This version's range of the line. */
  readonly from: number;
  readonly to: number;
  /** End of the element that was pushed to the line last. */
  readonly lastDropAt: number;
  readonly heap: Heap | undefined;
}

export interface Dropping {
  readonly dropAt: number;
  readonly order: number;
  readonly key: string;
}

const STRIDE = 3;

/**
 * A line up to this length is copied for each push: an array that grows in place has several times
 * the capacity.
 */
const SHORT = 8 * STRIDE;

/** Dropped elements are removed from the line once they are this many and more than the rest. */
const LEFT_MOST = 64 * STRIDE;

/** Its line is shared by nobody: the first push makes one. */
export const EMPTY_QUEUE: DropQueue = { line: [], from: 0, to: 0, lastDropAt: 0, heap: undefined };

/** Builds a queue of these elements at once; as many pushes would each copy a short line. */
export function queueFrom(elements: readonly Dropping[]): DropQueue {
  const sorted = elements.toSorted((a, b) => a.dropAt - b.dropAt || a.order - b.order);
  const last = sorted[sorted.length - 1];
  if (last === undefined) return EMPTY_QUEUE;
  const line = sorted.flatMap(({ dropAt, order, key }) => [dropAt, order, key]);
  return { line, from: 0, to: line.length, lastDropAt: last.dropAt, heap: undefined };
}

export function queuePush(queue: DropQueue, dropAt: number, order: number, key: string): DropQueue {
  const { from, to, lastDropAt, heap } = queue;
  if (from === to) {
    return { line: [dropAt, order, key], from: 0, to: STRIDE, lastDropAt: dropAt, heap };
  }
  if (dropAt < lastDropAt || (dropAt === lastDropAt && order < (queue.line[to - 2] as number))) {
    if (to - from < SHORT) return lined(queue, dropAt, order, key);
    return { line: queue.line, from, to, lastDropAt, heap: heapPush(heap, dropAt, order, key) };
  }
  if (to - from < SHORT) {
    const line = longer(queue, dropAt, order, key);
    return { line, from: 0, to: line.length, lastDropAt: dropAt, heap };
  }
  const isCopied = queue.line.length !== to || (from > LEFT_MOST && from > to - from);
  const line = isCopied ? queue.line.slice(from, to) : queue.line;
  line.push(dropAt, order, key);
  const start = isCopied ? 0 : from;
  return { line, from: start, to: line.length, lastDropAt: dropAt, heap };
}

/**
 * A short line moves to the heap, and the element that came out of order begins another line:
 * behind one that ends long after all others, everything would go to the heap. Each element moves
 * at most once.
 */
function lined(
  { line: before, from, to, heap: rest }: DropQueue,
  dropAt: number,
  order: number,
  key: string,
): DropQueue {
  let heap = rest;
  for (let at = from; at < to; at += STRIDE) {
    heap = heapPush(heap, before[at] as number, before[at + 1] as number, before[at + 2] as string);
  }
  return { line: [dropAt, order, key], from: 0, to: STRIDE, lastDropAt: dropAt, heap };
}

/** This version's range of the line and one more element, without spare capacity. */
function longer(queue: DropQueue, dropAt: number, order: number, key: string): DropQueue["line"] {
  const { line, from, to } = queue;
  const next: DropQueue["line"] = new Array(to - from + STRIDE);
  for (let at = from; at < to; at += 1) next[at - from] = line[at] as number | string;
  next[to - from] = dropAt;
  next[to - from + 1] = order;
  next[to - from + 2] = key;
  return next;
}

/** When the head ends; Infinity for an empty queue. */
export function queueFirstEnd({ line, from, to, heap }: DropQueue): number {
  const first = from === to ? Infinity : (line[from] as number);
  return heap !== undefined && heap.dropAt < first ? heap.dropAt : first;
}

export function queueHead(queue: DropQueue): Dropping | undefined {
  const { line, from, to, heap } = queue;
  if (isHeapFirst(queue)) return heap;
  if (from === to) return undefined;
  const dropAt = line[from] as number;
  return { dropAt, order: line[from + 1] as number, key: line[from + 2] as string };
}

/** The queue must have a head. */
export function queuePop(queue: DropQueue): DropQueue {
  const { line, from, to, lastDropAt, heap } = queue;
  if (heap !== undefined && isHeapFirst(queue)) {
    return { line, from, to, lastDropAt, heap: heapPop(heap) };
  }
  return { line, from: from + STRIDE, to, lastDropAt, heap };
}

function isHeapFirst({ line, from, to, heap }: DropQueue): boolean {
  if (heap === undefined) return false;
  if (from === to) return true;
  const dropAt = line[from] as number;
  return (
    heap.dropAt < dropAt || (heap.dropAt === dropAt && heap.order < (line[from + 1] as number))
  );
}

/**
 * An immutable leftist heap: the smallest element is at the root, insertion and removal copy
 * O(log n) nodes. Ordered by `dropAt`, then by `order`, so that no two elements are equal.
 */
export interface Heap {
  readonly dropAt: number;
  readonly order: number;
  readonly key: string;
  readonly rank: number;
  readonly left: Heap | undefined;
  readonly right: Heap | undefined;
}

export function heapPush(heap: Heap | undefined, dropAt: number, order: number, key: string): Heap {
  return meld(heap, { dropAt, order, key, rank: 1, left: undefined, right: undefined }) as Heap;
}

export function heapPop(heap: Heap): Heap | undefined {
  return meld(heap.left, heap.right);
}

function meld(a: Heap | undefined, b: Heap | undefined): Heap | undefined {
  if (a === undefined) return b;
  if (b === undefined) return a;
  if (b.dropAt < a.dropAt || (b.dropAt === a.dropAt && b.order < a.order)) return meld(b, a);
  const right = meld(a.right, b) as Heap;
  const left = a.left;
  const leftRank = left === undefined ? 0 : left.rank;
  return right.rank > leftRank
    ? nodeOf(a, leftRank + 1, right, left)
    : nodeOf(a, right.rank + 1, left, right);
}

/**
 * Lists every member: this runs once for each level of each insertion, and a spread takes three
 * times as long.
 */
function nodeOf(of: Heap, rank: number, left: Heap | undefined, right: Heap | undefined): Heap {
  return { dropAt: of.dropAt, order: of.order, key: of.key, rank, left, right };
}
