import { expect, test } from "vitest";
import { lint } from "../../../../support/policy/linted.ts";

function listFindings(budget: string, more = "{}"): readonly string[] {
  return lint(`
budgets: { by_name: { refunds: { ${budget} } } }
authorization:
  default: ask
  tiers: [{ name: a, pattern: refund, action: hitl, expires_ms: 1, when: ${more} }]
tool_schemas: { refund: { read_only: false, input_schema: { properties: { spent: { type: object } } } } }
`)
    .filter(({ path }) => path.startsWith("budgets.by_name"))
    .map(({ severity, path, message }) => `${severity} ${path}: ${message}`);
}

const SOME = "{ x: { present: true } }";

test("finds a budget without a limit that no condition asks about", () => {
  expect(listFindings("tools: refund, amount: x", SOME)).toEqual([
    "warning budgets.by_name.refunds: the budget `refunds` has no limit, and no condition asks about it",
  ]);
  expect(listFindings("tools: refund, max_tool_calls: 1", SOME)).toEqual([]);
  const asked = "[{ spent: { budget: refunds, above: 1 EUR } }]";
  expect(listFindings("tools: refund, amount: x", asked)).toEqual([]);
});

test("finds a budget that counts no declared tool", () => {
  expect(listFindings("tools: refnd, max_tool_calls: 1", SOME)).toEqual([
    "warning budgets.by_name.refunds.tools: `refnd` matches no tool of `tool_schemas`: the budget `refunds` may count nothing",
  ]);
});
