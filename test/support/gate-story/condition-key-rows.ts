// For each test of a condition: two values, and a call that they decide differently.
import type { KeyRow } from "./key-row.ts";

const AT = "authorization.tiers.[].when.*";

/** The argument is named `t`, as is the tool; a call that the condition does not hold for is denied. */
const row = (
  test: string,
  values: KeyRow["values"],
  t: unknown,
  tests: object = {},
  more: object = {},
): KeyRow => ({
  key: `${AT}.${test}`,
  values,
  base: {
    authorization: {
      default: "deny",
      tiers: [{ name: "a", pattern: "t", action: "allowlist", when: { t: tests } }],
    },
    tool_schemas: { t: { read_only: false } },
  },
  steps: [{ tool: "t", args: { t, ...more } }],
});

export const CONDITION_KEY_ROWS: readonly KeyRow[] = [
  row("equals", ["a", "b"], "a"),
  row("not", ["a", "b"], "a"),
  row("in", [["a"], ["b"]], "a"),
  row("not_in", [["a"], ["b"]], "a"),
  row("at_most", [5, 6], 6),
  row("at_least", [6, 7], 6),
  row("above", [5, 6], 6),
  row("below", ["7 EUR", "7 USD"], "6 EUR"),
  row("currency", ["code", "other"], 5, { at_most: "7 EUR" }, { code: "EUR", other: "USD" }),
  row("starts_with", ["a", "b"], "ab"),
  row("ends_with", ["a", "b"], "ab"),
  row("domain", ["example.com", "example.org"], "ann@example.org"),
  row("count.equals", [1, 2], [1, 2]),
  row("count.at_most", [1, 2], [1, 2]),
  row("count.at_least", [2, 3], [1, 2]),
  row("present", [true, false], "a"),
  {
    key: `${AT}.budget`,
    name: "spent",
    values: ["a", "b"],
    base: {
      budgets: {
        by_name: {
          a: { tools: "t", amount: "n", amounts_in: "EUR" },
          b: { tools: "u", amount: "n", amounts_in: "EUR" },
        },
      },
      authorization: {
        default: "deny",
        tiers: [
          { name: "a", pattern: "t", action: "allowlist", when: { spent: { at_most: "5 EUR" } } },
        ],
      },
      tool_schemas: { t: { read_only: false } },
    },
    steps: [{ tool: "t", args: { n: 6 } }],
  },
];
