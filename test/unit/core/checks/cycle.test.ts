import { describe, expect, test } from "vitest";
import type { PolicyDocument } from "../../../../services/core/policy/document.ts";
import { type Story, startStory } from "../../../support/decider-spec.ts";

const POLICY: PolicyDocument = {
  tool_schemas: {
    a: { repeatable: true },
    b: { repeatable: true },
    c: { repeatable: true },
    fresh: {},
    look: { read_only: true },
    watch: { volatile: true },
    gaze: { volatile: true },
  },
  deduplication: { loop_threshold: { same_output: "off" } },
};

let output = 0;

function makes(story: Story, tools: string): void {
  for (const tool of tools.split(" ")) {
    output += 1;
    story.done(tool, {}, `output ${output}`);
  }
}

describe("loop_cycle", () => {
  test.each([
    ["two calls", "a b a b a", "b"],
    ["three calls", "a b c a b c a b", "c"],
    ["a call twice in its period", "a a b a a b a a", "b"],
  ])("refuses the call that completes the third round of %s", (_name, calls, last) => {
    const story = startStory(POLICY);
    makes(story, calls);
    const { refusal, cycle, strike } = story.refused(last);
    expect(refusal).toMatchObject({ reason: "loop_cycle", rule: "loops.cycle_rounds" });
    expect(cycle).toHaveLength(new Set(calls.split(" ")).size);
    expect(strike).toMatchObject({ count: 1 });
    expect(strike?.key).toMatch(/^cycle:/);
  });

  test.each([
    ["one call alone", "a a a a a", "a"],
    ["two rounds", "a b a", "b"],
    ["rounds that differ", "a b a c a", "b"],
    ["a call that breaks it", "a b a b a", "c"],
    ["rounds with another call before them", "b a b a", "b"],
  ])("does not fire for %s", (_name, calls, last) => {
    const story = startStory(POLICY);
    makes(story, calls);
    story.allowed(last);
  });

  test("refuses a call of the period whose entries are no longer among the recent calls", () => {
    const story = startStory(POLICY);
    makes(story, "a b a b a");
    story.refused("b");
    const { state } = story;
    if (state === undefined) throw new Error("there is a conversation");
    story.state = {
      ...state,
      recentCalls: state.recentCalls.slice(-1),
      recentMarks: 0,
      recentOtherMarks: 0,
    };
    expect(story.reason("b")).toBe("loop_cycle");
  });

  test("refuses every call of the period until there is progress, under one strike", () => {
    const story = startStory(POLICY);
    makes(story, "c a b a b a");
    story.refused("b");
    expect(story.refused("a")).toMatchObject({
      refusal: { reason: "loop_cycle" },
      strike: { count: 2 },
    });
    makes(story, "c");
    expect(story.refused("b").strike?.count).toBe(3);
    makes(story, "fresh");
    story.allowed("a");
  });

  test("does not take a late result of one of its calls for progress", () => {
    const story = startStory({
      tool_schemas: { look: { read_only: true }, see: { read_only: true } },
    });
    for (const n of [1, 2]) {
      story.after(60_000).done("look", {}, `look ${n}`);
      story.done("see", {}, `see ${n}`);
    }
    const open = story.after(60_000).allowed("look");
    expect(story.reason("see")).toBe("loop_cycle");
    story.reported(open, { output: "never seen before" });
    expect(story.after(60_000).reason("look")).toBe("loop_cycle");
  });

  test("ends with a new turn, and never spans several turns", () => {
    const story = startStory(POLICY);
    makes(story, "a b a b a");
    story.turn("2");
    makes(story, "b a b a b");
    expect(story.reason("a")).toBe("loop_cycle");
    story.turn("3").allowed("a");
  });

  test("counts as many rounds as the policy says", () => {
    const story = startStory({ ...POLICY, loops: { cycle_rounds: 2 } });
    makes(story, "a b a");
    expect(story.reason("b")).toBe("loop_cycle");
  });

  test("excuses a volatile tool while the outputs of its last round are new", () => {
    const story = startStory(POLICY);
    makes(story, "watch gaze watch gaze watch");
    story.allowed("gaze");
  });

  test("does not excuse a volatile tool whose outputs repeat", () => {
    const story = startStory(POLICY);
    for (const tool of ["watch", "gaze", "watch", "gaze", "watch"]) story.done(tool, {}, tool);
    expect(story.reason("gaze")).toBe("loop_cycle");
  });
});
