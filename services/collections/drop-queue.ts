/**
 * An immutable queue of what ends when, the first end at its head, ordered by (dropAt, order).
 *
 * Ends almost always come in rising order, since windows of one kind are equally long: those stand
 * in a line that versions share, as nothing in it is ever changed and each knows its part of it. The
 * latest version appends in place, another copies its part. What comes out of order goes to a heap.
 */
import { type Heap, heapPop, heapPush } from "./heap.ts";

export interface DropQueue {
  /** Three places for each element: end, order, key. */
  readonly line: (number | string)[];
  /** This version's part of the line. */
  readonly from: number;
  readonly to: number;
  /** End of the latest pushed to the line. */
  readonly lastDropAt: number;
  readonly heap: Heap | undefined;
}

export interface Dropping {
  readonly dropAt: number;
  readonly order: number;
  readonly key: string;
}

const STRIDE = 3;

/** A line so short is copied for each push: one that grows in place has room for several times as many. */
const SHORT = 8 * STRIDE;

/** What has left the line is let go of once it is so long and longer than what stays. */
const LEFT_MOST = 64 * STRIDE;

/** Its line is of no use to anybody: the first push makes one. */
export const EMPTY_QUEUE: DropQueue = { line: [], from: 0, to: 0, lastDropAt: 0, heap: undefined };

/** A queue of these: what as many pushes would give, of which each would copy a short line. */
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
 * A short line goes to the heap, and what came out of order begins another: behind one that ends long after
 * all others, everything would go to the heap. Each goes there once at most.
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

/** This version's part of the line and one more, without room to spare. */
function longer(queue: DropQueue, dropAt: number, order: number, key: string): DropQueue["line"] {
  const { line, from, to } = queue;
  const next: DropQueue["line"] = new Array(to - from + STRIDE);
  for (let at = from; at < to; at += 1) next[at - from] = line[at] as number | string;
  next[to - from] = dropAt;
  next[to - from + 1] = order;
  next[to - from + 2] = key;
  return next;
}

/** When the head ends; infinity of an empty queue. */
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

/** Of a queue that has a head. */
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
