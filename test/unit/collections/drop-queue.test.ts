import fc from "fast-check";
import { expect, test } from "vitest";
import {
  type Dropping,
  type DropQueue,
  EMPTY_QUEUE,
  type Heap,
  heapPop,
  heapPush,
  queueFrom,
  queueHead,
  queuePop,
  queuePush,
} from "../../../services/collections/drop-queue.ts";

const byEnd = (a: Dropping, b: Dropping): number => a.dropAt - b.dropAt || a.order - b.order;

/** Times that mostly rise, with pops between them. */
const acts = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: fc.nat(20).map((dropAt) => ({ dropAt })) },
    { weight: 1, arbitrary: fc.constant("pop" as const) },
  ),
  { maxLength: 60 },
);

test("a queue returns the first to end, and ties in the order of insertion", () => {
  fc.assert(
    fc.property(acts, fc.boolean(), (all, rising) => {
      let queue: DropQueue = EMPTY_QUEUE;
      let model: Dropping[] = [];
      for (const [order, act] of all.entries()) {
        if (act === "pop") {
          if (model.length > 0) queue = queuePop(queue);
          model = model.slice(1);
        } else {
          const dropAt = act.dropAt + (rising ? order * 10 : 0);
          queue = queuePush(queue, dropAt, order, `key ${order}`);
          model = [...model, { dropAt, order, key: `key ${order}` }].sort(byEnd);
        }
        const head = queueHead(queue);
        expect(head && { dropAt: head.dropAt, order: head.order, key: head.key }).toEqual(model[0]);
      }
    }),
    { numRuns: 500 },
  );
});

test("a queue built at once equals one built by pushes, and accepts more", () => {
  const drained = (from: DropQueue): (string | undefined)[] => {
    const keys: (string | undefined)[] = [];
    for (let rest = from; queueHead(rest) !== undefined; rest = queuePop(rest)) {
      keys.push(queueHead(rest)?.key);
    }
    return keys;
  };
  fc.assert(
    fc.property(fc.array(fc.nat(20)), fc.array(fc.nat(20)), (first, then) => {
      const all = [...first, ...then].map((dropAt, order) => ({ dropAt, order, key: `${order}` }));
      let queue = queueFrom(all.slice(0, first.length));
      for (const { dropAt, order, key } of all.slice(first.length)) {
        queue = queuePush(queue, dropAt, order, key);
      }
      expect(drained(queue)).toEqual(all.sort(byEnd).map(({ key }) => key));
    }),
  );
});

test("an element that comes late to a long queue follows those that end with it", () => {
  let queue: DropQueue = EMPTY_QUEUE;
  for (let order = 0; order < 12; order += 1)
    queue = queuePush(queue, order, order, `key ${order}`);
  queue = queuePush(queue, 0, 12, "late");
  const keys: (string | undefined)[] = [];
  for (let at = 0; at < 3; at += 1) {
    keys.push(queueHead(queue)?.key);
    queue = queuePop(queue);
  }
  expect(keys).toEqual(["key 0", "late", "key 1"]);
});

test("an element that ends long after all others does not send them to the heap", () => {
  let queue: DropQueue = queuePush(EMPTY_QUEUE, 1_000_000, 0, "last");
  for (let order = 1; order < 100; order += 1) queue = queuePush(queue, order, order, `${order}`);
  expect([queue.to - queue.from, queue.heap?.key, queue.heap?.rank]).toEqual([3 * 99, "last", 1]);
});

test("a heap returns its elements in order, and leaves earlier versions unchanged", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(50)), (ends) => {
      let heap: Heap | undefined;
      for (const [order, dropAt] of ends.entries())
        heap = heapPush(heap, dropAt, order, `${order}`);
      const drained = (from: Heap | undefined): Dropping[] => {
        const out: Dropping[] = [];
        for (let rest = from; rest !== undefined; rest = heapPop(rest)) {
          out.push({ dropAt: rest.dropAt, order: rest.order, key: rest.key });
        }
        return out;
      };
      const expected = ends
        .map((dropAt, order) => ({ dropAt, order, key: `${order}` }))
        .sort(byEnd);
      expect(drained(heap)).toEqual(expected);
      expect(drained(heap)).toEqual(expected);
    }),
  );
});
