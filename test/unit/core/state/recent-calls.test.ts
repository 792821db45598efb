import { describe, expect, it } from "vitest";
import { mayBeRecent, toldAtMost } from "../../../../services/core/state/recent-calls.ts";
import { initialState } from "../../../../services/core/state/state.ts";
import { given, MINUTE, type Story } from "../../../support/decider-spec.ts";

function stateOf(story: Story) {
  return story.state ?? initialState("acme", "c", 0);
}

describe("how much is known of recent calls", () => {
  it("is nothing as long as none has come back", () => {
    const story = given({ tool_schemas: { look: { read_only: true } } });
    expect(toldAtMost(stateOf(story))).toBe(0);
    for (const n of [1, 2, 3]) story.allowed("look", { n });
    expect(toldAtMost(stateOf(story))).toBe(0);
    story.done("look", { n: 4 });
    expect(toldAtMost(stateOf(story))).toBeGreaterThanOrEqual(1);
  });

  it("is no less for calls that are held, which have not been made", () => {
    const ask = { name: "ask", pattern: "pay", action: "hitl", expires_ms: MINUTE } as const;
    const story = given({
      authorization: { tiers: [ask] },
      tool_schemas: { pay: {}, look: { read_only: true } },
    });
    story.done("look");
    const before = toldAtMost(stateOf(story));
    story.held("pay", { n: 1 });
    expect(toldAtMost(stateOf(story))).toBe(before);
  });

  it("tells calls that were never made apart without looking at the ring", () => {
    const story = given({ tool_schemas: { look: { read_only: true } } });
    const {
      arguments: { actionKey },
    } = story.allowed("look", { n: 1 });
    const blind = { ...stateOf(story), ring: [] };
    expect(mayBeRecent(blind, actionKey)).toBe(true);
    expect(mayBeRecent(initialState("acme", "c", 0), actionKey)).toBe(false);
    const marks = { ringMarks: blind.ringMarks, ringOtherMarks: 0 };
    expect(mayBeRecent(marks, actionKey)).toBe(false);
  });
});
