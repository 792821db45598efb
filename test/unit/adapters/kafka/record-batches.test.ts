import { expect, it } from "vitest";
import { RecordCursor } from "../../../../services/adapters/kafka/records/decode-records.ts";
import {
  type RecordBatch,
  stampBatch,
  walkBatches,
} from "../../../../services/adapters/kafka/records/record-batches.ts";
import {
  APPEND_TIME,
  batchBytes,
  fetchedOf,
  markerBytes,
  TRANSACTIONAL,
} from "../../../support/kafka/fetch-image.ts";

const values = (batches: readonly RecordBatch[]): unknown[] =>
  batches.flatMap((batch) => {
    const cursor = new RecordCursor(batch);
    const read: unknown[] = [];
    while (!cursor.isDone) read.push(String(cursor.next().value));
    return read;
  });

const data = (baseOffset: number, ...list: string[]): Buffer =>
  batchBytes({ baseOffset, values: list });

it("skips control records and emptied batches", () => {
  const emptied = batchBytes({ baseOffset: 3, values: [], lastOffset: 9 });
  const fetched = fetchedOf([data(0, "a", "b"), markerBytes(2, 7, true), emptied, data(10, "c")]);
  const { batches, nextOffset, failure } = walkBatches(fetched, 0);
  expect([values(batches), nextOffset, failure]).toEqual([["a", "b", "c"], 11, null]);
});

it("leaves a truncated batch for the next fetch", () => {
  const whole = data(0, "a");
  const fetched = fetchedOf([whole, data(1, "b").subarray(0, 65)]);
  expect(walkBatches(fetched, 0)).toMatchObject({ nextOffset: 1, failure: null });
  expect(walkBatches(fetchedOf([whole.subarray(0, 40)]), 0)).toMatchObject({ nextOffset: 0 });
});

it("stops at a gap, and returns the records before it", () => {
  const fetched = fetchedOf([data(0, "a"), data(5, "b")]);
  const { batches, nextOffset, failure } = walkBatches(fetched, 0);
  expect([values(batches), nextOffset]).toEqual([["a"], 1]);
  expect(failure).toMatchObject({ code: "input_out_of_reach", context: { offset: 1, actual: 5 } });
});

it("stops at a batch that lost some of its records", () => {
  const fetched = fetchedOf([batchBytes({ baseOffset: 0, values: ["a"], lastOffset: 3 })]);
  expect(walkBatches(fetched, 0).failure?.code).toBe("input_out_of_reach");
});

it("stops at a record with its sender's time, and at a wrong checksum", () => {
  const own = batchBytes({ baseOffset: 0, values: ["a"], attributes: 0 });
  expect(walkBatches(fetchedOf([own]), 0).failure?.code).toBe("log_mismatch");
  const bent = data(0, "a");
  bent[bent.length - 1] = 77;
  expect(walkBatches(fetchedOf([bent]), 0).failure?.code).toBe("log_corrupt");
});

it("lists batches that cannot be read where their offsets are certain", () => {
  const old = data(2, "b");
  old[16] = 1;
  const bent = data(3, "c", "d");
  bent[bent.length - 1] = 77;
  const fetched = fetchedOf([data(0, "a", "b"), old, bent, data(5, "e")]);
  const listed = walkBatches(fetched, 0, { listDamaged: true });
  expect(
    listed.batches.map(({ baseOffset, lastOffset, problem }) => [
      ...[baseOffset, lastOffset, problem?.message ?? null],
    ]),
  ).toEqual([
    [0, 1, null],
    [2, 2, expect.stringContaining("only format 2 can be read")],
    [3, 4, expect.stringContaining("the checksum of a record batch is wrong")],
    [5, 5, null],
  ]);
  expect(listed.batches.map(({ appendTimeMs }) => appendTimeMs)).toEqual([1000, 1000, 1000, 1000]);
  expect([listed.nextOffset, listed.failure]).toEqual([6, null]);
  // Another fetch may bring the batch whole.
  const waits = walkBatches(fetched, 0);
  expect([waits.nextOffset, waits.failure?.code]).toEqual([3, "log_corrupt"]);
});

it("stops at a damaged batch whose header does not agree with what follows", () => {
  const bent = (lastOffsetDelta: number): Buffer => {
    const bytes = data(0, "a", "b");
    bytes.writeInt32BE(lastOffsetDelta, 23);
    bytes[bytes.length - 1] = 77;
    return bytes;
  };
  const failureOf = (...batches: Buffer[]) =>
    walkBatches(fetchedOf(batches), 0, { listDamaged: true }).failure?.code;
  expect(failureOf(bent(1))).toBeUndefined();
  expect(failureOf(bent(1), data(7, "c"))).toBe("log_corrupt");
  expect(failureOf(bent(9))).toBe("log_corrupt");
});

it("reads batches with any number of records", () => {
  const many = Array.from({ length: 150_000 }, (_, index) => String(index));
  const { batches } = walkBatches(fetchedOf([batchBytes({ baseOffset: 0, values: many })]), 0);
  expect(values(batches)).toHaveLength(150_000);
});

it("reports a record that does not match its lengths", () => {
  const bytes = data(0, "a");
  bytes[61] = 100;
  stampBatch(bytes, 0, 0);
  const [batch] = walkBatches(fetchedOf([bytes]), 0).batches;
  if (batch === undefined) throw new Error("no batch");
  expect(() => new RecordCursor(batch).next()).toThrow(/does not match its lengths/);
});

it("drops aborted records where only committed ones are requested", () => {
  const attributes = APPEND_TIME | TRANSACTIONAL;
  const of = (baseOffset: number, producerId: number, value: string): Buffer =>
    batchBytes({ baseOffset, values: [value], producerId, attributes });
  const fetched = fetchedOf(
    [
      of(0, 1, "outer"),
      of(1, 2, "inner"),
      markerBytes(2, 2, false),
      of(3, 3, "kept"),
      markerBytes(4, 3, true),
      markerBytes(5, 1, false),
      of(6, 1, "later"),
      markerBytes(7, 1, true),
    ],
    [
      { producerId: 2, firstOffset: 1 },
      { producerId: 1, firstOffset: 0 },
    ],
  );
  expect(values(walkBatches(fetched, 0).batches)).toEqual(["kept", "later"]);
  const unguarded = walkBatches(fetched, 0, { committed: false });
  expect(values(unguarded.batches)).toEqual(["outer", "inner", "kept", "later"]);
});
