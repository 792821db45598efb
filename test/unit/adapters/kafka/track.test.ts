import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, it } from "vitest";
import { PartitionEnd, Track } from "../../../../services/adapters/kafka/records/tracks.ts";
import { batchBytes, fetchedOf } from "../../../support/kafka/fetch-image.ts";

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
    const { records } = track.take(LIMITS);
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
  for (; !track.wantsMore; taken += 1) track.take(LIMITS);
  // One batch more than was read is decoded.
  expect(taken).toBe(4);
});
