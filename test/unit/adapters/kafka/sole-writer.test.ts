import { expect, onTestFinished, test, vi } from "vitest";
import { SoleWriter } from "../../../../services/adapters/kafka/transactions/sole-writer.ts";
import { FatalError } from "../../../../services/runtime/errors.ts";
import type { LogRecord, OutgoingRecord, ReadResult } from "../../../../services/runtime/ports.ts";

const record = (topic: OutgoingRecord["topic"]): OutgoingRecord => ({
  ...{ topic, partition: 0, key: "k" },
  value: new Uint8Array(),
});
const JOURNAL = record("decisions");
const ALLOWED = record("allowed");
const at = (...offsets: readonly number[]) =>
  offsets.map((offset) => ({ offset, appendTimeMs: 1 }));

type Answer = { readonly offsets: readonly number[]; readonly nextOffset: number };

/** Returns the answers to reads one after the other, and repeats the last. */
function soleWriter(end: number, ...answers: readonly (Answer | Error)[]) {
  return soleWriterFrom(0, end, answers);
}

/** @param start the journal's first offset after retention. */
function soleWriterFrom(start: number, end: number, answers: readonly (Answer | Error)[]) {
  const asked: number[] = [];
  const read = (_topic: string, _partition: number, from: number): Promise<ReadResult> => {
    const answer = answers[Math.min(asked.length, answers.length - 1)];
    asked.push(from);
    if (answer === undefined || answer instanceof Error) return Promise.reject(answer);
    const { nextOffset } = answer;
    const records = answer.offsets.map((offset) => ({ offset }) as LogRecord);
    return Promise.resolve({ records, nextOffset, endOffset: nextOffset });
  };
  const startOffset = (): Promise<number> => Promise.resolve(start);
  const sole = new SoleWriter({ journal: { read, startOffset }, partition: 0, end });
  onTestFinished(() => sole.close());
  return { sole, asked };
}

const looked = (asked: readonly number[], times: number) =>
  vi.waitFor(() => expect(asked.length).toBe(times));

test("reads nothing between consecutive transactions", () => {
  const { sole, asked } = soleWriter(10, new Error("not to be read"));
  // Offsets of other topics do not matter.
  sole.noteCommit([JOURNAL, ALLOWED, JOURNAL], at(10, 7, 11));
  sole.noteCommit([JOURNAL, ALLOWED], at(13, 90));
  sole.noteCommit([ALLOWED], at(95));
  sole.noteCommit([JOURNAL], at(15));
  expect(asked).toEqual([]);
  expect(sole.isAlone).toBe(true);
});

test("ignores gaps of end markers: the read returns our record, or a later offset", async () => {
  const { sole, asked } = soleWriter(10, { offsets: [14], nextOffset: 15 });
  sole.noteCommit([JOURNAL], at(10));
  sole.noteCommit([JOURNAL], at(14));
  await looked(asked, 1);
  expect(asked).toEqual([11]);
  sole.noteCommit([JOURNAL], at(16));
  expect(sole.isAlone).toBe(true);
  const ended = soleWriter(10, { offsets: [], nextOffset: 14 });
  ended.sole.noteCommit([JOURNAL], at(14));
  await looked(ended.asked, 1);
  await new Promise((resolve) => setTimeout(resolve, 250));
  expect(ended.asked).toEqual([10]);
  expect(ended.sole.isAlone).toBe(true);
});

test("detects another writer's record at the offset of our end marker", async () => {
  const { sole, asked } = soleWriter(10, { offsets: [11], nextOffset: 12 });
  sole.noteCommit([JOURNAL], at(10));
  sole.noteCommit([JOURNAL], at(14));
  await vi.waitFor(() => expect(sole.isAlone).toBe(false));
  expect(asked).toEqual([11]);
});

test("detects another writer's record before our first one, and within a transaction", async () => {
  const first = soleWriter(10, { offsets: [10], nextOffset: 11 });
  first.sole.noteCommit([JOURNAL], at(12));
  await vi.waitFor(() => expect(first.sole.isAlone).toBe(false));
  const within = soleWriter(10, { offsets: [11], nextOffset: 12 });
  within.sole.noteCommit([JOURNAL, JOURNAL], at(10, 12));
  await vi.waitFor(() => expect(within.sole.isAlone).toBe(false));
  expect(within.asked).toEqual([11]);
});

test("reads a gap again that cannot be read yet, also without further writes", async () => {
  const { sole, asked } = soleWriter(
    10,
    new Error("the leader is moving"),
    { offsets: [], nextOffset: 11 },
    { offsets: [11], nextOffset: 12 },
  );
  sole.noteCommit([JOURNAL], at(10));
  sole.noteCommit([JOURNAL], at(14));
  await vi.waitFor(() => expect(sole.isAlone).toBe(false));
  expect(asked).toEqual([11, 11, 11]);
});

test("reads a gap after the previous one is decided", async () => {
  const { sole, asked } = soleWriter(
    10,
    { offsets: [], nextOffset: 10 },
    { offsets: [14], nextOffset: 15 },
    { offsets: [17], nextOffset: 18 },
  );
  sole.noteCommit([JOURNAL], at(14));
  sole.noteCommit([JOURNAL], at(18));
  await vi.waitFor(() => expect(sole.isAlone).toBe(false));
  expect(asked).toEqual([10, 10, 15]);
});

const TAKEN = new FatalError("input_out_of_reach", "no longer there");

test("skips a deleted gap, and detects an active writer in a later one", async () => {
  const { sole, asked } = soleWriterFrom(15, 10, [TAKEN, { offsets: [17], nextOffset: 18 }]);
  sole.noteCommit([JOURNAL], at(14));
  await looked(asked, 1);
  expect(sole.isAlone).toBe(true);
  sole.noteCommit([JOURNAL], at(18));
  await vi.waitFor(() => expect(sole.isAlone).toBe(false));
  expect(asked).toEqual([10, 15]);
});

test("reads the rest of a gap that retention has deleted in part", async () => {
  const other = soleWriterFrom(12, 10, [TAKEN, { offsets: [13], nextOffset: 14 }]);
  other.sole.noteCommit([JOURNAL], at(14));
  await vi.waitFor(() => expect(other.sole.isAlone).toBe(false));
  expect(other.asked).toEqual([10, 12]);
  const nobody = soleWriterFrom(12, 10, [TAKEN, { offsets: [14], nextOffset: 15 }]);
  nobody.sole.noteCommit([JOURNAL], at(14));
  await looked(nobody.asked, 2);
  await new Promise((resolve) => setTimeout(resolve, 250));
  expect([nobody.asked, nobody.sole.isAlone]).toEqual([[10, 12], true]);
});

test("does not skip an unreadable gap, wherever the journal now begins", async () => {
  const moving = new Error("the leader is moving");
  const { sole, asked } = soleWriterFrom(14, 10, [moving, { offsets: [11], nextOffset: 12 }]);
  sole.noteCommit([JOURNAL], at(14));
  await vi.waitFor(() => expect(sole.isAlone).toBe(false));
  expect(asked).toEqual([10, 10]);
});

test("reads nothing after it is closed", async () => {
  const { sole, asked } = soleWriter(10, new Error("the broker is gone"));
  sole.noteCommit([JOURNAL], at(12));
  await looked(asked, 1);
  sole.close();
  await new Promise((resolve) => setTimeout(resolve, 250));
  expect(asked).toEqual([10]);
});
