/**
 * An immutable queue of what ends when, the first end at its head, ordered by (dropAt, order).
 *
 * Ends almost always come in rising order, since windows of one kind are equally long: those stand
 * in two lists, pushed and popped with one node each. The others go into a heap.
 */
import { type Heap, heapPop, heapPush } from "./heap.ts";

export interface DropQueue {
  /** Rising, the head first. */
  readonly front: Link | undefined;
  /** Rising from its tail: the latest pushed is its head. */
  readonly back: Link | undefined;
  /** End of the latest pushed to the lists. */
  readonly lastDropAt: number;
  readonly heap: Heap | undefined;
}

export interface Dropping {
  readonly dropAt: number;
  readonly order: number;
  readonly key: string;
}

interface Link extends Dropping {
  readonly next: Link | undefined;
}

export const EMPTY_QUEUE: DropQueue = {
  front: undefined,
  back: undefined,
  lastDropAt: 0,
  heap: undefined,
};

export function queuePush(queue: DropQueue, dropAt: number, order: number, key: string): DropQueue {
  const { front, back, lastDropAt, heap } = queue;
  if (front === undefined) {
    return { front: { dropAt, order, key, next: undefined }, back, lastDropAt: dropAt, heap };
  }
  if (dropAt < lastDropAt) {
    return { front, back, lastDropAt, heap: heapPush(heap, dropAt, order, key) };
  }
  return { front, back: { dropAt, order, key, next: back }, lastDropAt: dropAt, heap };
}

export function queueHead({ front, heap }: DropQueue): Dropping | undefined {
  return heapFirst(front, heap) ? heap : front;
}

/** Of a queue that has a head. */
export function queuePop({ front, back, lastDropAt, heap }: DropQueue): DropQueue {
  if (heap !== undefined && heapFirst(front, heap)) {
    return { front, back, lastDropAt, heap: heapPop(heap) };
  }
  const next = front?.next;
  if (next !== undefined) return { front: next, back, lastDropAt, heap };
  return { front: reversed(back), back: undefined, lastDropAt, heap };
}

function heapFirst(front: Link | undefined, heap: Heap | undefined): boolean {
  if (heap === undefined) return false;
  if (front === undefined) return true;
  return heap.dropAt < front.dropAt || (heap.dropAt === front.dropAt && heap.order < front.order);
}

function reversed(back: Link | undefined): Link | undefined {
  let front: Link | undefined;
  for (let link = back; link !== undefined; link = link.next) {
    front = { dropAt: link.dropAt, order: link.order, key: link.key, next: front };
  }
  return front;
}
