import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, it } from "vitest";
import { stampBatch } from "../../../../services/adapters/kafka/records/record-batches.ts";
import { PartitionEnd, Track } from "../../../../services/adapters/kafka/records/tracks.ts";
import { APPEND_TIME, batchBytes, fetchedOf } from "../../../support/kafka/fetch-image.ts";

const LIMITS = { recordsMax: 1, bytesMax: 1_000_000 };

function collectGarbage(): void {
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
}

function trackAtStart(): Track {
  const topicPartition = { name: "callgate.proposals", partition: 0, end: new PartitionEnd() };
  return new Track(topicPartition, 0, 0);
}

/** Feeds one record in a fetch of its own; returns the buffer of the fetch. */
function feedOne(track: Track, offset: number, value: string): WeakRef<Buffer> {
  const fetched = fetchedOf([batchBytes({ baseOffset: offset, values: [value] })]);
  track.feed(fetched, offset, 0);
  return new WeakRef(fetched.payload);
}

it("frees records that were read, while more are buffered", async () => {
  const track = trackAtStart();
  const ahead = 4;
  const fetches: WeakRef<Buffer>[] = [];
  for (let offset = 0; offset <= 20; offset += 1) {
    fetches.push(feedOne(track, offset, `record ${offset}`));
    if (offset < ahead) continue;
    const { records } = track.take(LIMITS, "throw");
    expect(String(records[0]?.value)).toBe(`record ${offset - ahead}`);
  }
  // The target of a new weak reference lives until the end of this turn of the event loop.
  await new Promise((resolve) => setImmediate(resolve));
  collectGarbage();
  const held = fetches.filter((fetch) => fetch.deref() !== undefined).length;
  // All buffered records except the first, which is decoded.
  expect([track.isReady, held]).toEqual([true, ahead - 1]);
});

it("stops fetching ahead when it is full, and resumes when it is half empty", () => {
  const track = trackAtStart();
  const value = "x".repeat(256 * 1024);
  let offset = 0;
  for (; track.wantsMore; offset += 1) {
    track.feed(fetchedOf([batchBytes({ baseOffset: offset, values: [value] })]), offset, 0);
  }
  expect(offset).toBe(8);
  let taken = 0;
  for (; !track.wantsMore; taken += 1) track.take(LIMITS, "throw");
  // One batch more than was read is decoded.
  expect(taken).toBe(4);
});

/** The broker has checked the bytes, and this reader does not know their codec. */
const UNKNOWN_CODEC = 7 | APPEND_TIME;

function trackWithUnknownCodec(): Track {
  const track = trackAtStart();
  const batches = [
    batchBytes({ baseOffset: 0, values: ["first"] }),
    batchBytes({ baseOffset: 1, values: ["a", "b", "c"], attributes: UNKNOWN_CODEC }),
    batchBytes({ baseOffset: 4, values: ["last"] }),
  ];
  track.feed(fetchedOf(batches), 0, 0);
  return track;
}

it("gives each record of a batch with an unknown codec with the reason, and goes on", () => {
  const limits = { ...LIMITS, recordsMax: 10 };
  const { records, nextOffset } = trackWithUnknownCodec().take(limits, "mark");
  expect(records.map(({ offset, value }) => [offset, value?.toString()])).toEqual([
    [0, "first"],
    [1, undefined],
    [2, undefined],
    [3, undefined],
    [4, "last"],
  ]);
  expect(records.map(({ unreadable }) => unreadable !== undefined)).toEqual([
    false,
    true,
    true,
    true,
    false,
  ]);
  expect(records[1]?.unreadable).toContain("the unknown codec 7");
  expect(nextOffset).toBe(5);
});

it("stops before such a batch in a topic whose records must all be read", () => {
  const track = trackWithUnknownCodec();
  const limits = { ...LIMITS, recordsMax: 10 };
  expect(track.take(limits, "throw").records).toHaveLength(1);
  expect(() => track.take(limits, "throw")).toThrow(/the unknown codec 7/);
});

/** Reads all that is buffered: the content of each record, or why it has none. */
function readAll(track: Track): unknown[] {
  const { records } = track.take({ ...LIMITS, recordsMax: 100 }, "mark");
  return records.map(({ offset, value, unreadable }) => [offset, unreadable ?? String(value)]);
}

it("reads a batch up to its first damaged record, and marks the others", () => {
  const bytes = batchBytes({ baseOffset: 0, values: ["a", "b", "c"] });
  // The length of the second record.
  bytes[70] = 100;
  stampBatch(bytes, 0, 1_000);
  const track = trackAtStart();
  track.feed(fetchedOf([bytes, batchBytes({ baseOffset: 3, values: ["d"] })]), 0, 0);
  const damaged = expect.stringContaining("does not match its lengths and offsets");
  expect(readAll(track)).toEqual([
    [0, "a"],
    [1, damaged],
    [2, damaged],
    [3, "d"],
  ]);
});

it("fetches a batch with a wrong checksum again before it gives it up", () => {
  const whole = batchBytes({ baseOffset: 1, values: ["b"] });
  const bent = Buffer.from(whole);
  bent[bent.length - 1] = 77;
  const first = batchBytes({ baseOffset: 0, values: ["a"] });
  const healed = trackAtStart();
  healed.feed(fetchedOf([first, bent]), 0, 0);
  expect([readAll(healed), healed.isReady, healed.fetchFrom]).toEqual([[[0, "a"]], false, 1]);
  healed.feed(fetchedOf([whole]), 1, 0);
  expect(readAll(healed)).toEqual([[1, "b"]]);
  const damaged = trackAtStart();
  damaged.feed(fetchedOf([first, bent]), 0, 0);
  for (let fetch = 2; fetch <= 3; fetch += 1) damaged.feed(fetchedOf([bent]), 1, 0);
  expect(readAll(damaged)).toEqual([
    [0, "a"],
    [1, expect.stringContaining("the checksum of a record batch is wrong")],
  ]);
  expect(damaged.fetchFrom).toBe(2);
});
