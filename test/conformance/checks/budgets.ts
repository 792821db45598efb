import type { CheckExamples, TellGate } from "../../support/gate-story/check-examples.ts";

async function secondUnder(tell: TellGate, budgets: object, afterMs = 0): Promise<string> {
  const story = await tell({ tool_schemas: { write: {} }, budgets });
  await story.done("write", { n: 1 });
  story.after(afterMs);
  return story.outcome("write", { n: 2 });
}

/** The rows of the keys of budgets are in `policy-key-rows.ts`. */
export const examples: CheckExamples = {
  reasons: {
    budget_steps: (tell) => secondUnder(tell, { max_steps: 1 }),
    budget_calls: (tell) => secondUnder(tell, { max_tool_calls: 1 }),
    budget_seconds: (tell) => secondUnder(tell, { max_seconds: 1 }, 2_000),
    budget_spend: async (tell) => {
      const budgets = { max_spend: { amount: "1.00", currency: "USD" } };
      const story = await tell({ tool_schemas: { write: {} }, budgets });
      const estimatedCost = { microUnits: 2_000_000, currency: "USD" };
      return story.outcome("write", {}, { estimatedCost });
    },
  },
  keys: [],
};
