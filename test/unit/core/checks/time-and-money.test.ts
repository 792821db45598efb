import { describe, expect, test } from "vitest";
import { moneyText, overSpend } from "../../../../services/core/checks/spend.ts";
import type { Money, ProposalInput } from "../../../../services/core/inputs.ts";
import type { PolicyDocument } from "../../../../services/core/policy/document.ts";
import { withMoney } from "../../../../services/core/state/spent.ts";
import { ofType, SECOND, startStory } from "../../../support/decider-spec.ts";

function limited(budgets: PolicyDocument["budgets"]): PolicyDocument {
  return {
    budgets: budgets ?? {},
    authorization: { tiers: [{ name: "ask", pattern: "ask_*", action: "hitl" }] },
    tool_schemas: { a: { repeatable: true }, b: { repeatable: true }, ask_a: {} },
  };
}

function usd(units: number): Money {
  return { microUnits: units * 1_000_000, currency: "USD" };
}

function costs(units: number): Partial<ProposalInput> {
  return { estimatedCost: usd(units) };
}

const FIVE = { amount: "5.00", currency: "USD" };

describe("max_seconds", () => {
  test("refuses from exactly the limit on, and counts from zero in the next turn", () => {
    const story = startStory(limited({ max_seconds: 60 }));
    story.allowed("a", { n: 1 });
    story.after(60 * SECOND - 1).allowed("a", { n: 2 });
    const { refusal } = story.after(1).refused("a", { n: 3 });
    expect(refusal).toMatchObject({
      reason: "budget_seconds",
      rule: "budgets.max_seconds",
      disposition: "stop",
      resolution: { type: "new_turn" },
    });
    story.turn("2").allowed("a", { n: 3 });
  });

  test("leaves out the time in which a call waited for a person", () => {
    const story = startStory(limited({ max_seconds: 60 }));
    story.after(10 * SECOND);
    const hold = story.held("ask_a");
    ofType(story.after(600 * SECOND).approved(hold), "allowed");
    story.after(60 * SECOND - 1).allowed("a");
    expect(story.after(1).reason("a")).toBe("budget_seconds");
  });

  test("counts holds that overlap once", () => {
    const story = startStory(limited({ max_seconds: 60 }));
    const first = story.held("ask_a", { n: 1 });
    const second = story.after(20 * SECOND).held("ask_a", { n: 2 });
    story.after(20 * SECOND).denied(first);
    story.after(20 * SECOND).denied(second);
    story.after(60 * SECOND - 1).allowed("a");
    expect(story.after(1).reason("a")).toBe("budget_seconds");
  });

  test("continues across turns for a conversation, and starts with the first call for a tool", () => {
    const story = startStory(limited({ per_conversation: { max_seconds: 60 } }));
    story.allowed("a");
    expect(
      story
        .turn("2")
        .after(60 * SECOND)
        .reason("a"),
    ).toBe("budget_seconds");
    const other = startStory(limited({ per_tool: { max_seconds: 60 } }));
    other.allowed("a");
    other.after(59 * SECOND).allowed("b");
    expect(other.after(SECOND).reason("a")).toBe("budget_seconds");
    other.allowed("b", { n: 2 });
  });
});

describe("max_spend", () => {
  test("reserves the estimated cost of a call, to the last millionth", () => {
    const story = startStory(limited({ max_spend: FIVE }));
    story.allowed("a", { n: 1 }, costs(4.999_999));
    expect(story.refused("a", { n: 2 }, costs(0.000_002)).refusal).toMatchObject({
      reason: "budget_spend",
      rule: "budgets.max_spend",
    });
    story.allowed("a", { n: 3 }, costs(0.000_001));
    expect(story.reason("a", { n: 4 })).toBe("budget_spend");
  });

  test("counts the actual cost once it is known, and gives back a call that was not executed", () => {
    const story = startStory(limited({ max_spend: FIVE }));
    story.reported(story.allowed("a", { n: 1 }, costs(5)), { cost: usd(2) });
    story.reported(story.allowed("a", { n: 2 }, costs(3)), { status: "not_executed" });
    story.allowed("a", { n: 3 }, costs(3));
    expect(story.reason("a", { n: 4 }, costs(1))).toBe("budget_spend");
  });

  test("keeps the reservation of a call of unknown outcome", () => {
    const story = startStory(limited({ max_spend: FIVE }));
    const call = story.allowed("a", { n: 1 }, costs(5));
    story.reported(call, { status: "unknown" });
    expect(story.reason("a", { n: 2 }, costs(1))).toBe("budget_spend");
    story.reported(call, { status: "succeeded", cost: usd(1) });
    story.allowed("a", { n: 2 }, costs(4));
  });

  test("counts a held call once, and gives it back when it is denied", () => {
    const story = startStory(limited({ max_spend: FIVE }));
    const hold = story.held("ask_a", { n: 1 }, costs(3));
    expect(story.reason("a", {}, costs(3))).toBe("budget_spend");
    ofType(story.approved(hold), "allowed");
    expect(story.reason("a", {}, costs(3))).toBe("budget_spend");
    const other = startStory(limited({ per_conversation: { max_spend: FIVE } }));
    other.denied(other.held("ask_a", {}, costs(3)));
    other.allowed("a", {}, costs(5));
  });

  test("refuses costs in another currency, which it cannot count", () => {
    const story = startStory(limited({ max_spend: FIVE }));
    const euros = { estimatedCost: { microUnits: 1, currency: "EUR" } };
    expect(story.reason("a", {}, euros)).toBe("budget_spend");
    story.reported(story.allowed("a"), { cost: { microUnits: 1, currency: "EUR" } });
    expect(story.reason("a", {}, costs(1))).toBe("budget_spend");
  });

  test("is exact where sums of binary fractions are not", () => {
    const tenth = { microUnits: 100_000, currency: "USD" };
    let spent = withMoney([], tenth, 1);
    for (let n = 1; n < 30; n++) spent = withMoney(spent, tenth, 1);
    expect(spent).toEqual([{ microUnits: 3_000_000, currency: "USD" }]);
    expect(overSpend(tenth, { microUnits: 3_100_000, currency: "USD" }, spent)).toBeNull();
    expect(overSpend(tenth, { microUnits: 3_099_999, currency: "USD" }, spent)).not.toBeNull();
  });

  test.each([
    [5_000_000, "5.00 USD"],
    [5_500_000, "5.50 USD"],
    [1_234_560, "1.23456 USD"],
    [1, "0.000001 USD"],
  ])("shows %i as %s", (microUnits, text) => {
    expect(moneyText({ microUnits, currency: "USD" })).toBe(text);
  });
});

describe("a used-up budget", () => {
  test("returns the latest results by reference, and a sentence for the user", () => {
    const story = startStory({
      ...limited({ max_tool_calls: 2 }),
      tool_schemas: { look: {}, a: {} },
    });
    const first = story.done("look", { n: 1 }, "one");
    const second = story.done("look", { n: 2 }, "two");
    const { refusal } = story.refused("a");
    expect(refusal.earlierResults?.map(({ ref }) => ref)).toEqual([
      second.decisionId,
      first.decisionId,
    ]);
    expect(refusal.userMessage).toMatch(/^I stopped because this task used up the tool calls/);
  });

  test("has a sentence of its own for each reason", () => {
    const sentences = [
      { max_steps: 1 },
      { max_tool_calls: 1 },
      { max_seconds: 1 },
      { max_spend: FIVE },
    ].map((budgets) => {
      const story = startStory(limited(budgets));
      story.allowed("a", { n: 1 }, costs(5));
      return story.after(SECOND).refused("a", { n: 2 }, costs(1)).refusal.userMessage;
    });
    expect(new Set(sentences).size).toBe(4);
  });
});
