import { describe, expect, test } from "vitest";
import type { BudgetLimits, PolicyDocument } from "../../../../services/core/policy/document.ts";
import { ofType, startStory } from "../../../support/decider-spec.ts";

function limited(budgets: PolicyDocument["budgets"] & BudgetLimits): PolicyDocument {
  return {
    budgets,
    authorization: { tiers: [{ name: "ask", pattern: "ask_*", action: "hitl" }] },
    tool_schemas: { a: { repeatable: true }, b: { repeatable: true }, once: {}, ask_a: {} },
  };
}

describe("max_tool_calls", () => {
  test("refuses the call over the limit of a turn, and counts from zero in the next turn", () => {
    const story = startStory(limited({ max_tool_calls: 2 }));
    story.allowed("a", { n: 1 });
    story.allowed("a", { n: 2 });
    const { refusal, strike } = story.refused("a", { n: 3 });
    expect(refusal).toMatchObject({
      reason: "budget_calls",
      rule: "budgets.max_tool_calls",
      disposition: "stop",
      resolution: { type: "new_turn" },
    });
    expect(strike).toBeNull();
    story.turn("2").allowed("a", { n: 3 });
  });

  test("counts neither duplicates nor redelivered proposals", () => {
    const story = startStory(limited({ max_tool_calls: 2 }));
    const proposal = story.proposal("once");
    story.when(proposal);
    story.when(proposal);
    story.reason("once");
    story.allowed("a");
  });

  test("gives back a call that was not executed, but not one that failed", () => {
    const story = startStory(limited({ max_tool_calls: 1 }));
    story.reported(story.allowed("a"), { status: "not_executed" });
    story.failed("a");
    expect(story.reason("b")).toBe("budget_calls");
  });

  test("counts each held call once", () => {
    const story = startStory(limited({ max_tool_calls: 2 }));
    const hold = story.held("ask_a", { n: 1 });
    story.allowed("a");
    expect(story.reason("b")).toBe("budget_calls");
    ofType(story.approved(hold), "allowed");
    expect(story.reason("b")).toBe("budget_calls");
  });

  test("gives back a call whose hold ended without a run", () => {
    const story = startStory(limited({ max_tool_calls: 1 }));
    story.denied(story.held("ask_a"));
    story.after(1_000_000).allowed("a");
  });

  test("limits a conversation across its turns", () => {
    const story = startStory(limited({ per_conversation: { max_tool_calls: 1 } }));
    story.allowed("a");
    expect(story.turn("2").refused("b").refusal).toMatchObject({
      reason: "budget_calls",
      rule: "budgets.per_conversation.max_tool_calls",
      resolution: { type: "none" },
    });
  });

  test("limits each tool by itself within a turn", () => {
    const story = startStory(limited({ per_tool: { max_tool_calls: 1 } }));
    story.done("a");
    story.allowed("b");
    expect(story.refused("a").refusal.rule).toBe("budgets.per_tool.max_tool_calls");
    story.turn("2").allowed("a");
  });
});

describe("max_steps", () => {
  const CALLS = { turn: "1" };

  test("counts the calls of one step once, and each call without a step", () => {
    const story = startStory(limited({ max_steps: 2 }));
    for (const n of [1, 2, 3]) story.allowed("a", { n }, { step: "s1" });
    story.allowed("a", { n: 4 }, { step: null });
    expect(story.refused("a", { n: 5 }, { step: null }).refusal).toMatchObject({
      reason: "budget_steps",
      rule: "budgets.max_steps",
    });
    expect(story.reason("a", { n: 6 }, { step: "s1" })).toBe("budget_steps");
  });

  test("counts no refused step, and the step of an approved call once", () => {
    const story = startStory(limited({ max_steps: 2 }));
    const hold = story.held("ask_a", {}, { ...CALLS, step: "s1" });
    story.allowed("a", { n: 1 }, { step: "s2" });
    story.reason("a", { n: 1 }, { step: "refused" });
    ofType(story.approved(hold), "allowed");
    story.allowed("a", { n: 2 }, { step: "s2" });
    expect(story.reason("a", { n: 3 }, { step: "s3" })).toBe("budget_steps");
  });

  test("limits conversations and tools as well", () => {
    const conversation = startStory(limited({ per_conversation: { max_steps: 1 } }));
    conversation.allowed("a");
    expect(conversation.turn("2").refused("b").refusal.rule).toBe(
      "budgets.per_conversation.max_steps",
    );
    const tool = startStory(limited({ per_tool: { max_steps: 1 } }));
    tool.allowed("a", { n: 1 }, { step: "s1" });
    tool.allowed("b", { n: 1 }, { step: "s2" });
    tool.allowed("a", { n: 2 }, { step: "s1" });
    expect(tool.refused("a", { n: 3 }, { step: "s3" }).refusal.rule).toBe(
      "budgets.per_tool.max_steps",
    );
  });
});
