import { describe, expect, it } from "vitest";
import {
  idleRecordAfterMs,
  journalKeepMsMin,
  type LogSpan,
  trimTo,
} from "../../../services/runtime/retention.ts";

/** Spans of one record each, appended at these times. */
function spans(...times: readonly number[]): readonly LogSpan[] {
  return times.map((appendTimeMs, index) => ({
    baseOffset: index,
    nextOffset: index + 1,
    appendTimeMs,
    bytes: 100,
  }));
}

const ALL = { proposals: 99, results: 99, verdicts: 99 };

describe("what a log may delete", () => {
  it("is nothing of an empty one", () => {
    expect(trimTo("allowed", [], { keepMs: 1 }, 100, ALL)).toBe(0);
  });

  it("is what is older than the time to keep", () => {
    expect(trimTo("allowed", spans(10, 20, 30), { keepMs: 50 }, 70, ALL)).toBe(2);
    expect(trimTo("allowed", spans(10, 20, 30), { keepMs: 500 }, 70, ALL)).toBe(0);
    expect(trimTo("allowed", spans(10, 20, 30), { keepMs: 1 }, 700, ALL)).toBe(3);
  });

  it("is the oldest of what is too much", () => {
    const policy = { keepMs: 1_000, bytesMax: 150 };
    expect(trimTo("refused", spans(10, 20, 30), policy, 40, ALL)).toBe(2);
    expect(trimTo("refused", spans(10), policy, 40, ALL)).toBe(0);
  });

  it("is never an input that has no journal record yet, however old or much", () => {
    const consumed = { ...ALL, proposals: 1 };
    const policy = { keepMs: 1, bytesMax: 0 };
    expect(trimTo("proposals", spans(10, 20, 30), policy, 9_999, consumed)).toBe(1);
    expect(trimTo("results", spans(10, 20, 30), policy, 9_999, consumed)).toBe(3);
  });

  it("leaves the journal its last record, and one older than the time to keep", () => {
    const policy = { keepMs: 50, bytesMax: 0 };
    expect(trimTo("decisions", spans(10, 20, 30, 90), policy, 75, ALL)).toBe(1);
    expect(trimTo("decisions", spans(10, 20, 30, 90), policy, 9_999, ALL)).toBe(3);
    expect(trimTo("decisions", spans(10), policy, 9_999, ALL)).toBe(0);
  });
});

describe("how long a journal is kept", () => {
  it("is at least a conversation's life, the longest hold and a day", () => {
    expect(journalKeepMsMin({ maxAgeMs: 5, longestHoldMs: 7 })).toBe(86_400_012);
  });

  it("asks for a record of an idle partition four times within it", () => {
    expect(idleRecordAfterMs(1_001)).toBe(250);
  });
});
