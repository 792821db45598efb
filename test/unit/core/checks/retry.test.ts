import { describe, expect, test } from "vitest";
import type { Retries } from "../../../../services/core/checks/retry.ts";
import { backoffMs } from "../../../../services/core/checks/retry.ts";
import type { PolicyDocument } from "../../../../services/core/policy/document.ts";
import { SECOND, startStory } from "../../../support/decider-spec.ts";

const POLICY: PolicyDocument = {
  tools: { retries: { max_attempts: 3, retryable_status: [503], backoff_ms: [1_000, 3_000] } },
  tool_schemas: { write: {}, other: {}, look: { read_only: true } },
};

describe("a transient failure", () => {
  test.each(["write", "look"])(
    "with code `%s` may be retried as often as the policy says, each time after its wait",
    (tool) => {
      const story = startStory(POLICY);
      story.failed(tool, {}, "503");
      const { refusal, strike } = story.after(SECOND - 1).refused(tool);
      expect(refusal).toMatchObject({
        reason: "retry_too_soon",
        retryable: true,
        duplicate: false,
        resolution: { type: "retry_after", retryAfterMs: 1 },
      });
      expect(strike).toBeNull();
      story.after(1).failed(tool, {}, "503");
      expect(story.after(2 * SECOND - 1).reason(tool)).toBe("retry_too_soon");
      story.after(1).failed(tool, {}, "503");
      expect(story.after(600 * SECOND).reason(tool)).toBe("retry_exhausted");
    },
  );

  test("continues its execution, so that downstream sees one idempotency key", () => {
    const story = startStory({
      tools: { retries: { retryable_status: [409] } },
      tool_schemas: { a: {} },
    });
    const first = story.failed("a", {}, "409");
    expect(story.allowed("a").execution).toMatchObject({
      decisionId: first.decisionId,
      attempt: 2,
    });
  });

  test("is recognized by the executor's report before the code", () => {
    const story = startStory(POLICY);
    const error = { code: "E7", message: "no", retryable: true };
    story.reported(story.allowed("write"), { status: "failed", error });
    story.after(SECOND).allowed("write");
    const other = startStory(POLICY);
    const never = { code: "503", message: "busy", retryable: false };
    other.reported(other.allowed("write"), { status: "failed", error: never });
    expect(other.after(SECOND).reason("write")).toBe("retry_exhausted");
  });

  test("is recognized by its text", () => {
    const story = startStory(POLICY);
    const output = "Error: temporarily unavailable";
    story.reported(story.allowed("write"), { output, basis: "text" });
    story.after(SECOND).allowed("write");
  });
});

describe("any other failure", () => {
  test("is refused at the first repeat, with the earlier error", () => {
    const story = startStory(POLICY);
    story.failed("write", {}, "E1");
    expect(story.refused("write")).toMatchObject({
      refusal: { reason: "retry_exhausted", previousCall: { status: "failed" } },
      strike: { count: 1 },
    });
  });

  test("may be repeated after another write, after a confirmation, or in a new turn", () => {
    const changed = startStory(POLICY);
    changed.failed("write");
    changed.done("other");
    changed.allowed("write");
    const confirmed = startStory(POLICY);
    confirmed.failed("write");
    confirmed.allowed("write", {}, { confirmation: "yes" });
    const asked = startStory(POLICY);
    asked.failed("write");
    asked.turn("2").allowed("write");
  });

  test("is left to other checks where the policy has no retries", () => {
    const story = startStory({ tool_schemas: { write: {} } });
    story.failed("write");
    story.allowed("write");
  });
});

test("a success resets the count of failures", () => {
  const story = startStory(POLICY);
  story.failed("look", {}, "503");
  story.after(SECOND).done("look");
  story.after(600 * SECOND).failed("look", {}, "503");
  story.after(SECOND).failed("look", {}, "503");
  story.after(2 * SECOND).allowed("look");
});

test("the wait doubles between the two bounds of the policy", () => {
  const retries: Retries = {
    maxAttempts: 9,
    retryableStatus: new Set(),
    backoffMs: { min: 100, max: 500 },
  };
  expect([1, 2, 3, 4, 50].map((n) => backoffMs(retries, n))).toEqual([100, 200, 400, 500, 500]);
  expect(backoffMs({ ...retries, backoffMs: null }, 3)).toBe(0);
});
