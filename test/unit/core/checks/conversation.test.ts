import { describe, expect, test } from "vitest";
import type { PolicyDocument } from "../../../../services/core/policy/document.ts";
import { startStory } from "../../../support/decider-spec.ts";

const TOOLS: PolicyDocument = {
  preset: "balanced",
  deduplication: { window_ms: 300_000 },
  tool_schemas: { write: {}, other: {}, look: { read_only: true } },
};

const STOPS: PolicyDocument = {
  ...TOOLS,
  escalation: { user_input: 2, end: { at: 3, lasts: "turn" } },
};

describe("user_input_required", () => {
  test("refuses every call until the next turn", () => {
    const story = startStory(STOPS);
    story.done("write");
    story.refused("write");
    story.refused("write");
    expect(story.refused("look").refusal).toMatchObject({
      reason: "user_input_required",
      rule: "escalation.user_input",
      disposition: "ask_user",
      resolution: { type: "new_turn" },
    });
    story.turn("2").allowed("look");
  });

  test("is not lifted by a late call of an earlier turn", () => {
    const story = startStory(STOPS);
    story.turn("2").done("write");
    story.refused("write");
    story.refused("write");
    expect(story.turn("1").reason("look")).toBe("user_input_required");
  });

  test("is never switched on where the platform sends no turns", () => {
    const story = startStory(STOPS);
    story.turn(null).done("write");
    expect(story.refused("write").refusal.level).toBe(1);
    expect(story.refused("write")).toMatchObject({ raised: { userInput: false } });
    expect(story.refused("write").refusal.level).toBe(4);
    story.allowed("look");
  });
});

describe("conversation_ended", () => {
  const ended = (lasts: "turn" | "conversation") => {
    const story = startStory({
      ...TOOLS,
      escalation: { user_input: "off", end: { at: 1, lasts } },
    });
    story.done("write");
    expect(story.refused("write").refusal).toMatchObject({
      level: 4,
      disposition: "stop",
      resolution: { type: lasts === "turn" ? "new_turn" : "none" },
    });
    return story;
  };

  test("ends with the turn where the turn was ended", () => {
    const story = ended("turn");
    expect(story.refused("look").refusal).toMatchObject({
      reason: "conversation_ended",
      rule: "escalation.end",
      disposition: "stop",
      resolution: { type: "new_turn" },
    });
    story.turn("2").allowed("look");
  });

  test("stays in the next turn where the conversation was ended", () => {
    const story = ended("conversation");
    expect(story.turn("2").refused("look").refusal).toMatchObject({
      reason: "conversation_ended",
      resolution: { type: "none" },
    });
  });
});

describe("user_input_required after a loop of reads", () => {
  const READS: PolicyDocument = {
    ...TOOLS,
    tool_schemas: { ...TOOLS.tool_schemas, list: { read_only: true }, ask: { asks_user: true } },
    checks: { loop_no_progress: "enforce" },
    escalation: { user_input: 1 },
  };

  const looped = (tools = ["look"]) => {
    const story = startStory(READS);
    for (const tool of tools) {
      for (let n = 0; n < 3; n += 1) story.done(tool, { n }, `nothing in ${tool}`);
    }
    for (const tool of tools) {
      const { refusal, raised } = story.refused(tool, { n: "next" });
      expect([refusal.reason, raised?.userInput]).toEqual(["loop_no_progress", true]);
    }
    return story;
  };

  test("stops the tool that was read, and no other", () => {
    const story = looped();
    expect(story.reason("look", { n: "another" })).toBe("user_input_required");
    story.done("write", { note: "found nothing" });
    story.done("list");
    expect(story.reason("look", { n: "another" })).toBe("user_input_required");
  });

  test("stops every call once a second tool loops", () => {
    const story = looped(["look", "list"]);
    expect(story.reason("write")).toBe("user_input_required");
  });

  test("ends with a person's answer", () => {
    const story = looped();
    story.done("ask", {}, "in the archive");
    story.allowed("look", { n: "another" });
  });
});
