import { describe, expect, test } from "vitest";
import { compilePolicy } from "../../../../services/core/policy/compile-policy.ts";
import type {
  BudgetDocument,
  PolicyDocument,
  ToolDocument,
} from "../../../../services/core/policy/document.ts";
import { restoreState, snapshotState } from "../../../../services/core/state/snapshot.ts";
import { capabilities } from "../../../support/core/compile.ts";
import { HOUR, startStory } from "../../../support/decider-spec.ts";

const REFUND: ToolDocument = { read_only: false, repeatable: true };

function policy(
  budget: Partial<BudgetDocument>,
  more: Partial<PolicyDocument> = {},
): PolicyDocument {
  return {
    budgets: { by_name: { refunds: { tools: "refund", ...budget } } },
    tool_schemas: { refund: REFUND, other: REFUND },
    ...more,
  };
}

const eur = (amount: string | number, more: object = {}) => ({ amount, currency: "EUR", ...more });
const SPEND: Partial<BudgetDocument> = {
  amount: "amount",
  max_spend: { amount: "100", currency: "EUR" },
};

describe("a budget with a name", () => {
  test("counts calls of its tools alone", () => {
    const story = startStory(policy({ max_tool_calls: 2 }));
    story.done("refund", { n: 1 });
    story.done("other", { n: 1 });
    story.done("refund", { n: 2 });
    story.done("other", { n: 2 });
    const { refusal } = story.refused("refund", { n: 3 });
    expect(refusal).toMatchObject({
      reason: "budget_calls",
      rule: "budgets.by_name.refunds.max_tool_calls",
    });
    expect(refusal.message).toContain("2 tool calls of the budget `refunds` for each conversation");
  });

  test("counts calls whose condition holds or cannot be read", () => {
    const story = startStory(policy({ max_tool_calls: 1, when: { amount: { above: 50 } } }));
    story.done("refund", { amount: 50 });
    story.done("refund", { amount: 51 });
    story.done("refund", { amount: 49 });
    expect(story.reason("refund", { amount: 52 })).toBe("budget_calls");
    expect(story.reason("refund", { amount: "much" })).toBe("budget_calls");
  });

  test.each([
    ["turn", [false, true, true]],
    ["conversation", [false, false, false]],
    ["day", [false, false, true]],
  ] as const)("starts from nothing in another %s", (per, expected) => {
    const story = startStory(policy({ max_tool_calls: 1, per }));
    story.done("refund", { n: 1 });
    const runs = (n: number) => story.proposed("refund", { n }).type === "allowed";
    const outcomes = [runs(2)];
    story.turn("2");
    outcomes.push(runs(3));
    story.after(23.9 * HOUR).turn("3");
    outcomes.push(runs(4));
    expect(outcomes).toEqual(expected);
  });

  test("counts the amount that an argument says, calls in flight included", () => {
    const story = startStory(policy(SPEND));
    story.done("refund", eur("60.10"));
    story.allowed("refund", eur(39.9));
    expect(story.reason("refund", eur("0.01"))).toBe("budget_spend");
  });

  test("sums the amounts of a list, and takes a currency that is written for those without one", () => {
    const story = startStory(policy({ ...SPEND, amount: "items[].price", amounts_in: "EUR" }));
    const items = [{ price: 40 }, { price: "60" }];
    story.done("refund", { items });
    expect(story.reason("refund", { items: [{ price: 0.000001 }] })).toBe("budget_spend");
  });

  test.each([
    ["missing", {}],
    ["no number", eur("all")],
    ["negative", eur(-5)],
    ["without a currency", { amount: 5 }],
    ["too exact", eur("0.0000001")],
  ])("refuses a call whose amount is %s", (_, args) => {
    const { refusal } = startStory(policy(SPEND)).refused("refund", args);
    expect(refusal.reason).toBe("budget_spend");
    expect(refusal.message).toContain("the amount of this call cannot be read");
  });

  test("refuses an amount in another currency", () => {
    const story = startStory(policy(SPEND));
    expect(story.reason("refund", { amount: 5, currency: "USD" })).toBe("budget_spend");
  });

  test("gives the amount back where the call was not executed or had no effect", () => {
    const story = startStory(policy({ ...SPEND, max_tool_calls: 3 }));
    const first = story.allowed("refund", eur(100, { n: 1 }));
    story.reported(first, { status: "not_executed" });
    const second = story.allowed("refund", eur(100, { n: 2 }));
    story.reported(second, {
      status: "failed",
      effect: "none",
      error: { code: "E", message: "no", retryable: null },
    });
    const third = story.allowed("refund", eur(100, { n: 3 }));
    story.reported(third, { status: "unknown" });
    expect(story.reason("refund", eur(1, { n: 4 }))).toBe("budget_spend");
    story.reconciled(third, "failed");
    story.done("refund", eur(100, { n: 5 }));
    expect(story.reason("refund", eur(0, { n: 6 }))).toBe("budget_calls");
  });

  describe("counts the attempts of one execution once", () => {
    const RETRIES: Partial<PolicyDocument> = {
      tools: { retries: { max_attempts: 5, retryable_status: [503], backoff_ms: [0, 0] } },
      tool_schemas: { refund: { read_only: false } },
    };
    const begin = () => {
      const story = startStory(policy({ ...SPEND, per: "conversation" }, RETRIES));
      const first = story.failed("refund", eur(100), "503");
      const second = story.after(1_000).allowed("refund", eur(100));
      expect(second.execution.attempt).toBe(2);
      return { story, first, second };
    };
    const isFree = (story: ReturnType<typeof startStory>, amount: number) =>
      story.after(1_000).proposed("refund", eur(amount, { n: amount })).type === "allowed";

    test("where the retry succeeds", () => {
      const { story, second } = begin();
      story.reported(second, { status: "succeeded" });
      expect(isFree(story, 1)).toBe(false);
    });

    test.each([
      ["not executed", { status: "not_executed" }],
      [
        "without effect",
        { status: "failed", effect: "none", error: { code: "E", message: "no", retryable: null } },
      ],
    ] as const)("where the retry is %s: the first attempt may still have it", (_, result) => {
      const { story, first, second } = begin();
      story.reported(second, result);
      expect(isFree(story, 1)).toBe(false);
      story.reconciled(first, "failed");
      expect(isFree(story, 100)).toBe(true);
    });

    test("where both attempts are settled together", () => {
      const { story, second } = begin();
      story.reported(second, {
        status: "failed",
        error: { code: "503", message: "no", retryable: null },
      });
      expect(isFree(story, 1)).toBe(false);
      story.reconciled(second, "failed");
      expect(isFree(story, 100)).toBe(true);
    });

    test("where the first attempt is settled while the retry runs", () => {
      const { story, first, second } = begin();
      story.reconciled(first, "failed");
      expect(isFree(story, 1)).toBe(false);
      story.reported(second, { status: "succeeded" });
      expect(isFree(story, 1.5)).toBe(false);
    });
  });

  test("gives a held call back when its hold ends, and does not count it twice", () => {
    const tier = { name: "ask", pattern: "refund", action: "hitl", expires_ms: 1_000 } as const;
    const authorization = { default: "ask", tiers: [tier] } as const;
    const story = startStory(policy(SPEND, { authorization }));
    const denied = story.held("refund", eur(100, { n: 1 }));
    expect(story.reason("refund", eur(1, { n: 2 }))).toBe("budget_spend");
    story.denied(denied);
    const hold = story.held("refund", eur(100, { n: 3 }));
    expect(story.approved(hold)).toMatchObject({ type: "allowed" });
    expect(story.reason("refund", eur(1, { n: 4 }))).toBe("budget_spend");
  });

  test("takes the platform's cost without `amount`, and the reported one when it comes", () => {
    const max_spend = { amount: "1", currency: "USD" };
    const story = startStory(policy({ max_spend }));
    const cost = (microUnits: number) => ({ estimatedCost: { microUnits, currency: "USD" } });
    const call = story.allowed("refund", { n: 1 }, cost(1_000_000));
    expect(story.reason("refund", { n: 2 }, cost(1))).toBe("budget_spend");
    story.reported(call, { cost: { microUnits: 400_000, currency: "USD" } });
    story.allowed("refund", { n: 3 }, cost(600_000));
    expect(story.reason("refund", { n: 4 }, cost(1))).toBe("budget_spend");
  });

  test("survives a snapshot", () => {
    const story = startStory(policy({ ...SPEND, per: "conversation" }));
    story.done("refund", eur(100));
    const data = JSON.parse(JSON.stringify(snapshotState(story.state as never)));
    story.state = restoreState(data);
    expect(story.reason("refund", eur(1))).toBe("budget_spend");
  });
});

describe("a condition on what was spent", () => {
  const TIERS = [
    {
      name: "small",
      pattern: "refund",
      action: "allowlist",
      when: { spent: { budget: "refunds", at_most: "100 EUR" } },
    },
    { name: "ask", pattern: "refund", action: "hitl", expires_ms: HOUR },
  ] as const;
  const byTier = (budget: Partial<BudgetDocument> = { amount: "amount" }) =>
    policy({ per: "day", ...budget }, { authorization: { default: "ask", tiers: TIERS } });

  test("counts what the conversation has spent, and the call itself", () => {
    const story = startStory(byTier());
    story.done("refund", eur(60, { n: 1 }));
    story.held("refund", eur("40.01", { n: 2 }));
    story.denied(story.held("refund", eur(50, { n: 3 })));
    story.turn("2");
    const { tier } = story.held("refund", eur(41, { n: 4 })).policy;
    expect(tier).toBe("ask");
  });

  test("holds from the next midnight UTC on for what is spent then", () => {
    const story = startStory(byTier());
    story.done("refund", eur(100, { n: 1 }));
    story.held("refund", eur(1, { n: 2 }));
    story.after(23.9 * HOUR);
    story.done("refund", eur(99, { n: 3 }));
  });

  test("does not count the call's own hold when it is approved", () => {
    const story = startStory(byTier());
    const hold = story.held("refund", eur(101, { n: 1 }));
    expect(story.approved(hold)).toMatchObject({ type: "allowed" });
  });

  test("voids an approval where the rule of the call has changed since", () => {
    const deny = { name: "no", pattern: "refund", action: "deny" } as const;
    const [small, ask] = TIERS;
    const when = { spent: { budget: "refunds", at_most: "200 EUR" } };
    const tiers = [small, { ...ask, when }, deny];
    const document = policy(
      { per: "day", amount: "amount" },
      { authorization: { default: "ask", tiers } },
    );
    const story = startStory(document);
    const hold = story.held("refund", eur(110, { n: 1 }));
    // Held calls count, too: of these two only one may be approved.
    const other = story.held("refund", eur(80, { n: 2 }));
    expect(story.approved(other)).toMatchObject({ type: "allowed" });
    story.refused("refund", eur(100, { n: 3 }));
    expect(story.approved(hold)).toMatchObject({ type: "allowed" });
  });

  test("cannot be read where the call does not say what it costs", () => {
    const story = startStory(byTier());
    const held = story.held("refund", { n: 1 });
    expect(held.message).toContain('`spent of refunds at_most "100 EUR"` holds');
    story.approved(held);
    story.held("refund", eur(1, { n: 2 }));
  });

  test("is certain of more than was spent, also where a call did not say what it costs", () => {
    const above = [
      { ...TIERS[1], action: "deny", when: { spent: { budget: "refunds", above: "100 EUR" } } },
      { name: "rest", pattern: "refund", action: "allowlist" },
    ];
    const authorization = { default: "ask", tiers: above } as PolicyDocument["authorization"];
    const document = policy({ amount: "amount" }, { authorization: authorization as never });
    const story = startStory(document);
    story.done("refund", eur(100, { n: 1 }));
    expect(story.reason("refund", eur(1, { n: 2 }))).toBe("tier_denied");
    expect(story.reason("refund", { n: 3 })).toBe("tier_denied");
  });

  test("cannot be read where something was spent in another currency", () => {
    const story = startStory(byTier());
    story.held("refund", { amount: 1, currency: "USD" });
  });

  test("is about the budget and not the tool", () => {
    const tiers = [
      { ...TIERS[0], pattern: "other" },
      { ...TIERS[1], pattern: "other" },
    ];
    const authorization = { default: "allow", tiers } as const;
    const story = startStory(policy({ amount: "amount" }, { authorization }));
    story.done("other", { n: 1 });
    story.done("refund", eur(101));
    story.held("other", { n: 2 });
  });

  test("works in variants and in rules of commands", () => {
    const when = { spent: { budget: "refunds", above: "10 EUR" } };
    const tools: PolicyDocument["tool_schemas"] = {
      refund: {
        ...REFUND,
        variants: { rules: [{ when, tier: "deny" }], otherwise: { tier: "allow" } },
      },
      sql: {
        commands: {
          language: "sql",
          rules: [
            { statement: ["delete"], when, tier: "deny" },
            { statement: ["delete"], tier: "allow" },
          ],
        },
      },
    };
    const story = startStory(policy({ amount: "amount" }, { tool_schemas: tools }));
    story.done("refund", eur(10, { n: 1 }));
    story.done("sql", { query: "delete from a" });
    expect(story.reason("refund", eur(1, { n: 2 }))).toBe("tier_denied");
  });
});

describe("a budget that cannot be", () => {
  const problemsOf = (document: PolicyDocument) => {
    const result = compilePolicy(document, capabilities, { revision: "r", keyId: "k" });
    return result.ok ? [] : result.problems.map(({ path, message }) => `${path}: ${message}`);
  };
  const tiers = (spent: object): Partial<PolicyDocument> => ({
    authorization: {
      default: "ask",
      tiers: [{ name: "a", pattern: "refund", action: "allowlist", when: { spent } }],
    },
  });

  test.each<readonly [string, PolicyDocument, string]>([
    [
      "unknown budget",
      policy({}, tiers({ budget: "refund", above: "1 EUR" })),
      "authorization.tiers[0].when.spent.budget: `refund` is no budget of this policy",
    ],
    [
      "no money",
      policy({}, tiers({ budget: "refunds", above: 5 })),
      "authorization.tiers[0].when.spent.above: `5` is no amount of money",
    ],
    [
      "no test of money",
      policy({}, tiers({ budget: "refunds", equals: 5 })),
      "authorization.tiers[0].when.spent.equals: `equals` is no test of what a budget has spent",
    ],
    [
      "no test",
      policy({}, tiers({ budget: "refunds" })),
      "authorization.tiers[0].when.spent.budget: has no test",
    ],
    [
      "another key",
      policy(
        {},
        {
          authorization: {
            default: "ask",
            tiers: [
              {
                name: "a",
                pattern: "refund",
                action: "deny",
                when: { a: { budget: "refunds", above: "1 EUR" } },
              },
            ],
          },
        },
      ),
      "authorization.tiers[0].when.a.budget: `budget` belongs under `spent`",
    ],
    [
      "a budget of budgets",
      policy({ when: { spent: { budget: "refunds", above: "1 EUR" } } }),
      "budgets.by_name.refunds.when.spent.budget: a budget cannot count by what a budget has spent",
    ],
    [
      "no such argument",
      policy(
        { amount: "sum" },
        {
          tool_schemas: {
            refund: { input_schema: { properties: {}, additionalProperties: false } },
          },
        },
      ),
      "budgets.by_name.refunds.amount: `sum` is no argument in the schema of `refund`",
    ],
    [
      "a sensitive argument",
      policy({ amount: "sum" }, { tool_schemas: { refund: { sensitive: ["sum"] } } }),
      "budgets.by_name.refunds.amount: `sum` of `refund` is sensitive",
    ],
    ["no path", policy({ amount: "a..b" }), "budgets.by_name.refunds.amount: `a..b` is no path"],
  ])("reports %s", (_, document, message) => {
    const problems = problemsOf(document);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain(message);
  });
});
