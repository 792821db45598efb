import { describe, expect, test } from "vitest";
import type { PolicyDocument } from "../../../../services/core/policy/document.ts";
import { HOUR, MINUTE, SECOND, startStory } from "../../../support/decider-spec.ts";

const POLICY: PolicyDocument = {
  tool_schemas: {
    look: { read_only: true },
    write: {},
    poll: { polling: { max_calls: 5 } },
    endless: { polling: { min_interval_ms: 1 } },
    slow: { read_only: true, retries: { max_attempts: 10, retryable_status: [503] } },
    once: { read_only: true, retries: { max_attempts: 10, retryable_status: [429] } },
  },
};

function failedThrice(tool = "look") {
  const story = startStory(POLICY);
  for (const _ of [1, 2, 3]) story.failed(tool);
  return story;
}

describe("a failure streak", () => {
  test("names the pause, after which the next try runs", () => {
    const story = failedThrice();
    const { refusal } = story.refused("look");
    expect(refusal.resolution).toMatchObject({ type: "retry_after", retryAfterMs: MINUTE });
    expect(refusal.message).toContain(
      "It failed 3 times in the same way. Wait at least 60 seconds.",
    );
    story.after(MINUTE - 1);
    expect(story.refused("look").refusal.resolution.retryAfterMs).toBe(1);
    story.after(1).allowed("look");
  });

  test("doubles the pause with each further failure, up to the longest", () => {
    const story = startStory({ ...POLICY, escalation: { user_input: "off" } });
    for (const _ of [1, 2, 3]) story.failed("look");
    for (const minutes of [1, 2, 4, 5, 5]) {
      story.after(minutes * MINUTE - 1);
      expect([minutes, story.reason("look")]).toEqual([minutes, "failure_streak"]);
      story.after(1).failed("look");
    }
  });

  test("takes its pause from the policy", () => {
    const story = startStory({
      ...POLICY,
      loops: { failure_streak: { pause_ms: [3 * SECOND, 2 * SECOND] } },
    });
    for (const _ of [1, 2, 3]) story.failed("look");
    expect(story.refused("look").refusal.resolution.retryAfterMs).toBe(3 * SECOND);
    story.after(3 * SECOND).failed("look");
    expect(story.refused("look").refusal.resolution.retryAfterMs).toBe(3 * SECOND);
  });

  test("starts afresh in a new turn, and is one over five turns", () => {
    const story = failedThrice("write");
    for (const turn of [2, 3, 4, 5]) story.turn(`${turn}`).failed("write");
    expect(story.turn("6").reason("write")).toBe("failure_streak");
    story.after(HOUR).done("write");
  });

  test("over turns ends with a write", () => {
    const story = startStory(POLICY);
    for (const turn of [1, 2, 3, 4, 5]) story.turn(`${turn}`).failed("look");
    story.done("write");
    story.turn("6").allowed("look");
  });

  test("over turns counts from where the policy says", () => {
    const story = startStory({ ...POLICY, loops: { failure_streak: { over_turns: 3 } } });
    for (const turn of [1, 2, 3]) story.turn(`${turn}`).failed("look");
    expect(story.turn("4").reason("look")).toBe("failure_streak");
  });

  test("leaves the attempts of a turn to `retries`, where the tool has some", () => {
    const story = startStory(POLICY);
    for (let n = 0; n < 9; n += 1) story.after(SECOND).failed("slow", {}, "503");
    story.after(SECOND).failed("slow", {}, "503");
    expect(story.after(SECOND).reason("slow")).toBe("retry_exhausted");
  });

  test("holds over turns for a tool with `retries` too", () => {
    const story = startStory(POLICY);
    for (const turn of [1, 2, 3, 4, 5]) story.turn(`${turn}`).failed("slow", {}, "503");
    expect(story.turn("6").reason("slow")).toBe("failure_streak");
  });

  test("waits for the polls that a `polling` tool may make", () => {
    const story = startStory(POLICY);
    for (let n = 0; n < 5; n += 1) story.after(SECOND).failed("poll");
    expect(story.after(SECOND).reason("poll")).toBe("failure_streak");
    for (let n = 0; n < 3; n += 1) story.after(SECOND).failed("endless");
    expect(story.after(SECOND).reason("endless")).toBe("failure_streak");
  });

  test("of an error that `retries` do not name ends after the pause", () => {
    const story = startStory(POLICY);
    story.failed("once", {}, "404");
    const { refusal } = story.after(SECOND).refused("once");
    expect(refusal).toMatchObject({
      reason: "retry_exhausted",
      resolution: { type: "retry_after", retryAfterMs: 59 * SECOND },
    });
    story.after(59 * SECOND).failed("once", {}, "404");
    story.after(2 * MINUTE - 1);
    expect(story.reason("once")).toBe("retry_exhausted");
    story.after(1).allowed("once");
  });
});
