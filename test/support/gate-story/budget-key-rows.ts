// For each key of `budgets.by_name`: two values, and a conversation that they decide differently.
import type { KeyRow, KeyStep } from "./key-row.ts";

/** The budget has the name of the tool, `t`. */
const row = (
  key: string,
  values: KeyRow["values"],
  budget: object,
  ...steps: readonly KeyStep[]
): KeyRow => ({
  key: `budgets.by_name.*.${key}`,
  values,
  base: { budgets: { by_name: { t: budget } }, tool_schemas: { t: {} } },
  steps,
});

const call = (args: object): KeyStep => ({ tool: "t", args });
const money = (amount: string): object => ({ amount, currency: "USD" });
const costly: KeyStep = {
  ...call({}),
  overrides: { estimatedCost: { microUnits: 1_500_000, currency: "USD" } },
};

export const BUDGET_KEY_ROWS: readonly KeyRow[] = [
  row("tools", ["t", "u"], { max_tool_calls: 1 }, call({ n: 1 }), call({ n: 2 })),
  row(
    "when",
    [{ n: { at_most: 1 } }, { n: { above: 1 } }],
    { tools: "t", max_tool_calls: 1 },
    call({ n: 0 }),
    call({ n: 1 }),
  ),
  row(
    "per",
    ["turn", "conversation"],
    { tools: "t", max_tool_calls: 1 },
    call({ n: 0 }),
    { turn: 2 },
    call({ n: 1 }),
  ),
  row(
    "amount",
    ["n", "m"],
    { tools: "t", amounts_in: "USD", max_spend: money("5") },
    call({ n: 5, m: 6 }),
  ),
  row(
    "amounts_in",
    ["USD", "EUR"],
    { tools: "t", amount: "n", max_spend: money("5") },
    call({ n: 5 }),
  ),
  row("max_tool_calls", [1, 2], { tools: "t" }, call({ n: 1 }), call({ n: 2 })),
  row("max_spend.amount", ["1", "2"], { tools: "t", max_spend: { currency: "USD" } }, costly),
  row("max_spend.currency", ["USD", "EUR"], { tools: "t", max_spend: { amount: "2" } }, costly),
];
