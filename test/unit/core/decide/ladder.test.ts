import { describe, expect, test } from "vitest";
import type { PolicyDocument } from "../../../../services/core/policy/document.ts";
import { startStory } from "../../../support/decider-spec.ts";

const TOOLS: PolicyDocument = {
  tool_schemas: { write: {}, other: {}, look: { read_only: true }, slow: {} },
};

const LEVELS: PolicyDocument = {
  ...TOOLS,
  escalation: { ask: 1, options: 2, user_input: 3, end: { at: 4, lasts: "turn" } },
};

describe("the n-th strike", () => {
  test("climbs from question to options, and no further unless the policy says so", () => {
    const story = startStory({ ...TOOLS, escalation: { user_input: "off" } });
    story.done("write");
    const levels = [1, 2, 3, 4].map(() => story.refused("write").refusal.level);
    expect(levels).toEqual([1, 2, 2, 2]);
  });

  test("says and switches on what belongs to its level", () => {
    const story = startStory(LEVELS);
    story.done("write");
    const said = [story.refused("write"), story.refused("write"), story.refused("write")];
    expect(said[0]?.refusal.message).toContain("What will you do differently?");
    expect(said[1]?.refusal.message).toContain("Your options");
    expect(said[1]?.raised).toEqual({ acknowledgement: true, userInput: false, ended: null });
    expect(said[2]).toMatchObject({
      refusal: { level: 3, count: 3, disposition: "ask_user", resolution: { type: "new_turn" } },
      raised: { userInput: true, ended: null },
    });
    expect(said[2]?.refusal.message).toContain("Stop calling tools");
  });

  test("ends the conversation where the last level is reached first", () => {
    const story = startStory({
      ...TOOLS,
      escalation: {
        ask: "off",
        options: "off",
        user_input: "off",
        end: { at: 2, lasts: "conversation" },
      },
    });
    story.done("write");
    expect(story.refused("write").refusal).toMatchObject({ level: 0, count: 1 });
    expect(story.refused("write")).toMatchObject({
      refusal: { level: 4, disposition: "stop" },
      raised: { ended: "conversation", userInput: false },
    });
  });

  test("reaches no level under observe, and requires no acknowledgement where none is configured", () => {
    const observed = startStory({ ...TOOLS, preset: "observe" });
    expect(observed.policy.ladder).toEqual({
      ask: null,
      options: null,
      userInput: null,
      end: null,
    });
    const story = startStory({ ...LEVELS, acknowledgement: { mode: "off" } });
    story.done("write");
    story.refused("write");
    expect(story.refused("write").raised).toBeNull();
  });
});

describe("strikes", () => {
  test("are counted for each call separately", () => {
    const story = startStory(LEVELS);
    const first = story.allowed("write", { n: 1 });
    const second = story.allowed("write", { n: 2 });
    for (const call of [first, second]) story.reported(call, { status: "unknown" });
    expect(story.refused("write", { n: 1 }).strike?.count).toBe(1);
    expect(story.refused("write", { n: 1 }).strike?.count).toBe(2);
    expect(story.refused("write", { n: 2 }).strike?.count).toBe(1);
  });

  test("of one step count once, because its calls were issued together", () => {
    const story = startStory(LEVELS);
    story.done("write");
    for (const _ of [1, 2, 3]) {
      expect(story.refused("write", {}, { step: "s" }).strike?.count).toBe(1);
    }
    expect(story.refused("write", {}, { step: null }).strike?.count).toBe(2);
    expect(story.refused("write", {}, { step: null }).strike?.count).toBe(3);
  });

  test("are cleared by a new turn", () => {
    const story = startStory(LEVELS);
    story.done("write");
    story.refused("write");
    expect(story.turn("2").refused("write").strike?.count).toBe(1);
  });

  test("are cleared by a new output of a read, not by one seen before", () => {
    const story = startStory(LEVELS);
    story.done("look", { n: 1 }, "seen");
    const open = story.allowed("slow");
    expect(story.reported(open, { status: "unknown" }).type).toBe("result_recorded");
    story.refused("slow");
    story.done("look", { n: 2 }, "seen");
    expect(story.refused("slow").strike?.count).toBe(2);
    story.failed("look", { n: 4 });
    story.done("look", { n: 5 }, null);
    expect(story.refused("slow").strike?.count).toBe(3);
    story.turn("2");
    story.refused("slow");
    story.done("look", { n: 3 }, "new");
    expect(story.refused("slow").strike?.count).toBe(1);
  });

  test("are cleared by a successful write that was not made before", () => {
    const story = startStory(LEVELS);
    story.done("other", { n: 1 });
    story.reported(story.allowed("slow"), { status: "unknown" });
    story.refused("slow");
    story.done("other", { n: 1, again: true });
    expect(story.refused("slow").strike?.count).toBe(1);
    story.failed("other", { n: 2 });
    story.done("other", { n: 2 });
    expect(story.refused("slow").strike?.count).toBe(2);
  });

  test("do not include reads answered from memory and calls in flight", () => {
    const story = startStory(LEVELS);
    story.done("look");
    expect(story.refused("look")).toMatchObject({ strike: null, refusal: { level: 0, count: 0 } });
    story.allowed("write");
    expect(story.refused("write").strike).toBeNull();
  });
});
