import { describe, expect, test } from "vitest";
import { ledgerGet } from "../../../../services/collections/ledger.ts";
import type { CallAllowed } from "../../../../services/core/events.ts";
import { LIMITS } from "../../../../services/core/limits.ts";
import { HOUR, type Story, startStory } from "../../../support/decider-spec.ts";

const DAY = 24 * HOUR;
const TOOLS = {
  authorization: { tiers: [{ name: "ask", pattern: "ask", action: "hitl" }] },
} as const;

/** A call that waits keeps the conversation from lapsing; no tick comes. */
function aDayLater(write: (story: Story) => void): Story {
  const story = startStory({ ...TOOLS, tool_schemas: { write: {} } });
  story.held("ask");
  write(story);
  return story.after(DAY + 1);
}

describe("a write of unknown outcome, after a day without a tick,", () => {
  test("refuses its repeat as one in flight", () => {
    const story = aDayLater((early) => early.allowed("write"));
    expect(story.reason("write")).toBe("duplicate_in_flight");
  });

  test("refuses its repeat as one of unknown outcome", () => {
    const story = aDayLater((early) =>
      early.reported(early.allowed("write"), { status: "unknown" }),
    );
    expect(story.reason("write")).toBe("outcome_unknown");
  });

  test("is forgotten in time once its outcome is reported", () => {
    const story = aDayLater((early) => early.done("write"));
    expect(story.allowed("write").execution.attempt).toBe(1);
    expect(story.state?.priorWrites.size).toBe(1);
  });

  test("is not dropped to make room, although others are", () => {
    const story = startStory({ deduplication: { window_ms: 1_000 }, tool_schemas: { write: {} } });
    story.allowed("write", { id: "waits" });
    for (let n = 0; n <= LIMITS.priorWrites; n += 1) {
      story.after(2_000).done("write", { n });
      story.journal.length = 0;
    }
    expect(story.state?.priorWrites.size).toBeLessThanOrEqual(LIMITS.priorWrites);
    expect(story.reason("write", { id: "waits" })).toBe("duplicate_in_flight");
  });
});

describe("the failures of a write", () => {
  const failureOf = (story: Story, { facts: { priorKey } }: CallAllowed) =>
    story.state === undefined
      ? undefined
      : ledgerGet(story.state.priorWrites, priorKey, story.nowMs)?.trouble.failure;

  test("are one fewer once it turns out that the call did not run", () => {
    const story = startStory({ tool_schemas: { write: {} } });
    const first = story.failed("write", {}, "503");
    story.reported(first, { status: "not_executed" });
    expect(failureOf(story, first)).toBeNull();
    story.failed("write", {}, "503");
    const third = story.failed("write", {}, "503");
    expect(failureOf(story, third)?.count).toBe(2);
    story.reported(third, { status: "not_executed" });
    expect(failureOf(story, third)?.count).toBe(1);
  });
});
