import { describe, expect, it } from "vitest";
import {
  idleRecordAfterMs,
  journalKeepMsMin,
  type LogSpan,
  type RetentionPolicy,
  trimTo,
} from "../../../services/runtime/retention.ts";
import type { PerInput, Topic } from "../../../services/runtime/topics.ts";

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

/**
 * The offset to which the start of a topic with these spans may move, if all of them are consumed.
 */
function trimmed(
  topic: Topic,
  list: readonly LogSpan[],
  policy: RetentionPolicy,
  nowMs: number,
  consumed: PerInput = ALL,
): number | null {
  return trimTo({ topic, spans: list, bytes: list.length * 100, consumed }, policy, nowMs);
}

describe("what a log may delete", () => {
  it("is nothing of an empty topic", () => {
    expect(trimmed("allowed", [], { keepMs: 1 }, 100)).toBeNull();
  });

  it("is everything older than the retention time", () => {
    expect(trimmed("allowed", spans(10, 20, 30), { keepMs: 50 }, 70)).toBe(2);
    expect(trimmed("allowed", spans(10, 20, 30), { keepMs: 500 }, 70)).toBeNull();
    expect(trimmed("allowed", spans(10, 20, 30), { keepMs: 1 }, 700)).toBe(3);
  });

  it("is the oldest records beyond the size limit", () => {
    const policy = { keepMs: 1_000, bytesMax: 150 };
    expect(trimmed("refused", spans(10, 20, 30), policy, 40)).toBe(2);
    expect(trimmed("refused", spans(10), policy, 40)).toBeNull();
  });

  it("is never an input without a journal record, however old or large", () => {
    const consumed = { ...ALL, proposals: 1 };
    const policy = { keepMs: 1, bytesMax: 0 };
    expect(trimmed("proposals", spans(10, 20, 30), policy, 9_999, consumed)).toBe(1);
    expect(trimmed("results", spans(10, 20, 30), policy, 9_999, consumed)).toBe(3);
  });

  it("leaves the journal its last record, and one older than the retention time", () => {
    const policy = { keepMs: 50, bytesMax: 0 };
    expect(trimmed("decisions", spans(10, 20, 30, 90), policy, 75)).toBe(1);
    expect(trimmed("decisions", spans(10, 20, 30, 90), policy, 9_999)).toBe(3);
    expect(trimmed("decisions", spans(10), policy, 9_999)).toBeNull();
  });
});

describe("the retention of a journal", () => {
  it("is at least a conversation's life, the longest hold and a day", () => {
    expect(journalKeepMsMin({ maxAgeMs: 5, longestHoldMs: 7 })).toBe(86_400_012);
  });

  it("includes a record of an idle partition four times", () => {
    expect(idleRecordAfterMs(1_001)).toBe(250);
  });
});
