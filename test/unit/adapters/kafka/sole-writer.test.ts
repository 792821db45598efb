import { expect, test } from "vitest";
import { SoleWriter } from "../../../../services/adapters/kafka/sole-writer.ts";
import type { OutgoingRecord } from "../../../../services/runtime/ports.ts";

const record = (topic: OutgoingRecord["topic"]): OutgoingRecord => ({
  ...{ topic, partition: 0, key: "k" },
  value: new Uint8Array(),
});
const JOURNAL = record("decisions");
const ALLOWED = record("allowed");
const at = (...offsets: readonly number[]) =>
  offsets.map((offset) => ({ offset, appendTimeMs: 1 }));

test("between transactions that lie one behind the other there is no gap", () => {
  const sole = new SoleWriter();
  // Wherever it begins, and whatever lies between on other topics.
  expect(sole.gapBefore([JOURNAL, ALLOWED, JOURNAL], at(10, 7, 11))).toBeNull();
  expect(sole.gapBefore([JOURNAL, ALLOWED], at(13, 90))).toBeNull();
  expect(sole.gapBefore([ALLOWED], at(95))).toBeNull();
  expect(sole.gapBefore([JOURNAL], at(15))).toBeNull();
});

test("a gap is what lies between two transactions, and is told once", () => {
  const sole = new SoleWriter();
  expect(sole.gapBefore([JOURNAL, JOURNAL], at(10, 11))).toBeNull();
  expect(sole.gapBefore([JOURNAL], at(16))).toEqual({ from: 13, to: 16 });
  expect(sole.gapBefore([JOURNAL], at(18))).toBeNull();
});

test("there may be one within a transaction", () => {
  expect(new SoleWriter().gapBefore([JOURNAL, JOURNAL], at(10, 12))).toEqual({ from: 11, to: 12 });
});
