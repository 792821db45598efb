import { describe, expect, test } from "vitest";
import type { PolicyDocument } from "../../../../services/core/policy/document.ts";
import { HOUR, MINUTE, type Story, startStory } from "../../../support/decider-spec.ts";

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

const MOVING: PolicyDocument = {
  ...POLICY,
  checks: { duplicate_call: "off" },
  tool_schemas: { ...POLICY.tool_schemas, log: {}, pay: {}, look: { volatile: true } },
};

function makes(story: Story, tools: string, output = (tool: string) => `output of ${tool}`): void {
  for (const tool of tools.split(" ")) story.done(tool, {}, output(tool));
}

/** Makes the calls, each with an output that none had before. */
function makesAnew(story: Story, tools: string): void {
  let n = 0;
  makes(story, tools, () => {
    n += 1;
    return `output ${n}`;
  });
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
    for (const _ of [1, 2]) {
      story.after(60_000).done("look", {}, "look");
      story.done("see", {}, "see");
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

  test.each([
    ["reads", "watch gaze watch gaze watch", "gaze"],
    ["tools whose every call is meant", "a b a b a", "b"],
    ["a write and the read behind it", "log look log look log", "look"],
  ])("does not fire while the outputs of %s are new", (_name, calls, last) => {
    const story = startStory(MOVING);
    makesAnew(story, calls);
    story.allowed(last);
  });

  test("judges writes by what is read after them, not by what they answer", () => {
    const story = startStory(MOVING);
    makesAnew(story, "log pay log pay log");
    expect(story.reason("pay")).toBe("loop_cycle");
  });

  test("fires as soon as a whole round brings no new output of its calls", () => {
    const story = startStory(MOVING);
    makesAnew(story, "a b a");
    makes(story, "b a b");
    makes(story, "a");
    expect(story.reason("b")).toBe("loop_cycle");
  });

  test("does not take an output for new that another round gave, however long ago", () => {
    const story = startStory({ ...MOVING, loops: { cycle_rounds: 4 } });
    const colours = ["red", "green"];
    for (let n = 0; n < 3; n += 1) {
      story.done("a", {}, colours[n % 2] ?? "");
      story.done("b", {}, colours[n % 2] ?? "");
    }
    story.done("a", {}, "green");
    expect(story.reason("b")).toBe("loop_cycle");
  });

  test("takes a missing output for no new one", () => {
    const story = startStory(MOVING);
    for (const tool of ["a", "b", "a", "b", "a"]) story.done(tool, {}, null);
    expect(story.reason("b")).toBe("loop_cycle");
  });

  test("takes every output for news where the policy declares nothing", () => {
    const story = startStory({ checks: { duplicate_call: "off", loop_repeat: "off" } });
    makesAnew(story, "a b a b a");
    story.allowed("b");
  });
});

describe("rounds of several agents", () => {
  const FIGHT: PolicyDocument = {
    tool_schemas: {
      set: { effects: [{ resource: "lamp", kind: "update" }] },
      look: { read_only: true },
    },
  };
  const set = (story: Story, agentId: string, on: boolean) => {
    const call = story.after(MINUTE).allowed("set", { on }, { agentId });
    story.reported(call, { output: `version ${story.journal.length}` });
  };
  const rounds = (pauseMs = 0, count = 5) => {
    const story = startStory(FIGHT);
    for (let n = 0; n < count; n += 1) {
      story.after(pauseMs);
      set(story, n % 2 === 0 ? "night" : "motion", n % 2 === 1);
    }
    return story;
  };

  test("are a cycle of them all once the third is complete", () => {
    const { refusal, cycle } = rounds().refused("set", { on: true }, { agentId: "motion" });
    expect(refusal).toMatchObject({ reason: "loop_cycle", rule: "loops.cycle_rounds" });
    expect(refusal.message).toContain("Several agents of this conversation");
    expect(cycle).toHaveLength(2);
  });

  test("are none where an hour lies between them, or a new turn", () => {
    rounds(HOUR).after(HOUR).allowed("set", { on: true }, { agentId: "motion" });
    rounds().turn("2").allowed("set", { on: true }, { agentId: "motion" });
  });

  test("are none of reads alone", () => {
    const story = startStory(FIGHT);
    for (let n = 0; n < 9; n += 1) {
      const call = story.after(MINUTE).allowed("look", { n: n % 2 }, { agentId: `agent ${n % 2}` });
      story.reported(call, { output: `view ${n}` });
    }
  });

  test("are none while one agent's calls differ", () => {
    const story = startStory(FIGHT);
    for (let n = 0; n < 9; n += 1) {
      if (n % 2 === 0) set(story, "night", false);
      else story.reported(story.allowed("set", { on: true, level: n }, { agentId: "motion" }), {});
    }
  });
});
