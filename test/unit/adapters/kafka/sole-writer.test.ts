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

test("transactions that lie one behind the other are of one writer", () => {
  const sole = new SoleWriter();
  // Wherever it begins, and whatever lies between on other topics.
  expect(sole.isAlone([JOURNAL, ALLOWED, JOURNAL], at(10, 7, 11))).toBe(true);
  expect(sole.isAlone([JOURNAL, ALLOWED], at(13, 90))).toBe(true);
  expect(sole.isAlone([ALLOWED], at(95))).toBe(true);
  expect(sole.isAlone([JOURNAL], at(15))).toBe(true);
});

test.each([
  ["between two transactions", at(14)],
  ["of several records between two transactions", at(20)],
  ["on a log that lost what was written", at(11)],
])("somebody else has written %s", (_what, appended) => {
  const sole = new SoleWriter();
  expect(sole.isAlone([JOURNAL, JOURNAL], at(10, 11))).toBe(true);
  expect(sole.isAlone([JOURNAL], at(13))).toBe(true);
  expect(sole.isAlone([JOURNAL], appended)).toBe(false);
});

test("somebody else has written within one transaction", () => {
  expect(new SoleWriter().isAlone([JOURNAL, JOURNAL], at(10, 12))).toBe(false);
});
