import { describe, expect, it } from "vitest";
import {
  loopKeyOf,
  mayBeRecent,
  settledAtMost,
} from "../../../../services/core/state/recent-calls.ts";
import { initialState } from "../../../../services/core/state/state.ts";
import { MINUTE, type Story, startStory } from "../../../support/decider-spec.ts";

function stateOf(story: Story) {
  return story.state ?? initialState("acme", "c", 0);
}

describe("the number of recent calls with an outcome", () => {
  it("is zero as long as none has returned", () => {
    const story = startStory({ tool_schemas: { look: { read_only: true } } });
    expect(settledAtMost(stateOf(story))).toBe(0);
    for (const n of [1, 2, 3]) story.allowed("look", { n });
    expect(settledAtMost(stateOf(story))).toBe(0);
    story.done("look", { n: 4 });
    expect(settledAtMost(stateOf(story))).toBeGreaterThanOrEqual(1);
  });

  it("is not reduced by held calls, which were not made", () => {
    const ask = { name: "ask", pattern: "pay", action: "hitl", expires_ms: MINUTE } as const;
    const story = startStory({
      authorization: { tiers: [ask] },
      tool_schemas: { pay: {}, look: { read_only: true } },
    });
    story.done("look");
    const before = settledAtMost(stateOf(story));
    story.held("pay", { n: 1 });
    expect(settledAtMost(stateOf(story))).toBe(before);
  });

  it("finds calls that were never made without a look at the entries", () => {
    const story = startStory({ tool_schemas: { look: { read_only: true } } });
    const { arguments: identified, call } = story.allowed("look", { n: 1 });
    const loopKey = loopKeyOf(identified.actionKey, call.agentId);
    const blind = { ...stateOf(story), recentCalls: [] };
    expect(mayBeRecent(blind, loopKey)).toBe(true);
    expect(mayBeRecent(initialState("acme", "c", 0), loopKey)).toBe(false);
    const marks = { recentMarks: blind.recentMarks, recentOtherMarks: 0 };
    expect(mayBeRecent(marks, loopKey)).toBe(false);
  });
});
