import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../../services/core/canonical/json-value.ts";
import { compilePolicy } from "../../../../services/core/policy/compile-policy.ts";
import { toolOfCall } from "../../../../services/core/policy/compiled.ts";
import { UNKNOWN_SPENDING } from "../../../../services/core/policy/conditions/spending.ts";
import type {
  CommandsDocument,
  PolicyDocument,
  ToolDocument,
  VariantsDocument,
} from "../../../../services/core/policy/document.ts";
import { capabilities } from "../../../../services/gate/capabilities.ts";
import { compiled } from "../../../support/core/compile.ts";
import { startStory } from "../../../support/decider-spec.ts";

function policy(tool: ToolDocument, byDefault: "allow" | "ask" | "deny" = "ask"): PolicyDocument {
  const tiers = [{ name: "free", pattern: "nothing", action: "allowlist" }] as const;
  return { authorization: { default: byDefault, tiers }, tool_schemas: { pay: tool } };
}

function actionOf(tool: ToolDocument, args: JsonObject, byDefault?: "allow" | "ask" | "deny") {
  return toolOfCall(compiled(policy(tool, byDefault)), "pay", args).tier.action;
}

function problemsOf(tool: ToolDocument): readonly string[] {
  const result = compilePolicy(policy(tool), capabilities, { revision: "r", keyId: "k" });
  return result.ok ? [] : result.problems.map(({ path, message }) => `${path}: ${message}`);
}

describe("a variant with a condition", () => {
  const SMALL: VariantsDocument = {
    rules: [{ when: { amount: { at_most: 50 } }, tier: "free" }],
    otherwise: { tier: "deny" },
  };

  test("applies to the calls that the condition holds for", () => {
    expect(actionOf({ variants: SMALL }, { amount: 50 })).toBe("allowlist");
    expect(actionOf({ variants: SMALL }, { amount: 51 })).toBe("deny");
  });

  test("needs the text of its argument as well, where it names one", () => {
    const variants: VariantsDocument = {
      argument: "method",
      rules: [{ equals: ["card"], when: { amount: { at_most: 50 } }, tier: "free" }],
    };
    expect(actionOf({ variants }, { method: "card", amount: 5 })).toBe("allowlist");
    expect(actionOf({ variants }, { method: "wire", amount: 5 })).toBe("hitl");
    expect(actionOf({ variants }, { method: "card", amount: 51 })).toBe("hitl");
  });

  test("that cannot be read makes the call as strict as what may apply", () => {
    expect(actionOf({ variants: SMALL }, { amount: "many" })).toBe("deny");
    const lax: VariantsDocument = { ...SMALL, otherwise: { tier: "free" } };
    expect(actionOf({ variants: lax }, { amount: 51 })).toBe("allowlist");
    expect(actionOf({ variants: lax }, {}, "ask")).toBe("hitl");
    expect(actionOf({ variants: lax }, {}, "deny")).toBe("deny");
    expect(toolOfCall(compiled(policy({ variants: lax })), "pay", {}).why).toBe(
      "the call does not show whether `amount at_most 50` holds, so that the stricter rule applies",
    );
  });

  test("that cannot be read is no matter where the text shows that the rule is not meant", () => {
    const variants: VariantsDocument = {
      argument: "method",
      rules: [{ equals: ["card"], when: { amount: { above: 50 } }, tier: "deny" }],
      otherwise: { tier: "free" },
    };
    expect(actionOf({ variants }, { method: "wire" })).toBe("allowlist");
    expect(actionOf({ variants }, { method: "card" })).toBe("deny");
    expect(actionOf({ variants }, { method: ["card"], amount: 5 })).toBe("allowlist");
    expect(actionOf({ variants }, { method: ["card"], amount: 51 })).toBe("deny");
  });

  test("takes the default of the schema", () => {
    const properties = { amount: { type: "number", default: 5 } };
    expect(actionOf({ variants: SMALL, input_schema: { properties } }, {})).toBe("allowlist");
  });

  test("is bound to its condition: another one asks for a new approval", () => {
    const digest = (at_most: number) => {
      const variants: VariantsDocument = {
        rules: [{ when: { amount: { at_most } }, tier: "hitl" }],
      };
      return toolOfCall(compiled(policy({ variants })), "pay", { amount: 5 }).ruleDigest;
    };
    expect(digest(50)).not.toBe(digest(60));
  });

  test("is an error where the tool has no such argument, with the path of it", () => {
    const input_schema = { properties: { sum: {} }, additionalProperties: false };
    expect(problemsOf({ variants: SMALL, input_schema })).toEqual([
      "tool_schemas.pay.variants.rules[0].when.amount: `amount` is no argument in the schema of `pay`: write one that it has, or add it to the schema",
    ]);
  });
});

describe("a rule that names no tier of the policy", () => {
  test.each(["variants", "commands"] as const)("denies, asks or allows by a word: %s", (key) => {
    for (const [tier, action] of [
      ["deny", "deny"],
      ["hitl", "hitl"],
      ["allow", "allow"],
    ] as const) {
      const variants: VariantsDocument = {
        argument: "command",
        rules: [{ equals: ["frob"], tier }],
      };
      const commands: CommandsDocument = { rules: [{ run: ["frob"], tier }] };
      const tool = key === "variants" ? { variants } : { commands };
      expect(actionOf(tool, { command: "frob" })).toBe(action);
    }
  });

  test("is an error where the word is none", () => {
    const rules = [{ equals: ["a"], tier: "never" }];
    expect(problemsOf({ variants: { argument: "name", rules } })).toEqual([
      "tool_schemas.pay.variants.rules[0].tier: `never` is not the name of a tier of this policy: write one of its names, or allow, hitl or deny",
    ]);
  });

  test("makes what is unclear as strict as a rule that denies", () => {
    const commands: CommandsDocument = { rules: [{ run: ["frob"], tier: "deny" }] };
    expect(actionOf({ commands }, { command: "unknown-program" })).toBe("deny");
  });
});

describe("a rule of `commands` with a condition", () => {
  const when = { database: { equals: "prod" } } as const;
  const sql = (rule: object): CommandsDocument => ({
    language: "sql",
    unclear: "hitl",
    rules: [{ statement: ["delete"], when, ...rule }],
  });
  const tier = (commands: CommandsDocument, database?: string) =>
    actionOf(
      { commands },
      { query: "delete from a", ...(database === undefined ? {} : { database }) },
    );

  test("applies to the calls that the condition holds for, also of one and the same text", () => {
    const commands = sql({ tier: "deny" });
    const one = compiled(policy({ commands }));
    const actions = ["prod", "test", "prod"].map(
      (database) => toolOfCall(one, "pay", { query: "delete from a", database }).tier.action,
    );
    expect(actions).toEqual(["deny", "hitl", "deny"]);
  });

  test("that denies or holds applies where the condition cannot be read", () => {
    expect(tier(sql({ tier: "deny" }))).toBe("deny");
    const { why } = toolOfCall(compiled(policy({ commands: sql({ tier: "deny" }) })), "pay", {
      query: "delete from a",
    });
    expect(why).toContain('does not show whether `database equals "prod"` holds');
  });

  test("that allows does not apply where the condition cannot be read", () => {
    expect(tier(sql({ tier: "free" }), "prod")).toBe("allowlist");
    expect(tier(sql({ tier: "free" }))).toBe("hitl");
  });

  test("of another command is not named as the reason", () => {
    const commands = sql({ tier: "deny" });
    const tool = toolOfCall(compiled(policy({ commands })), "pay", { query: "update a set b = 1" });
    expect(tool.tier.action).toBe("hitl");
    expect(tool.why).not.toContain("database");
  });

  test("is an error where it cannot be read in the policy", () => {
    const bad = sql({ tier: "deny", when: { amount: { at_most: "fifty" } } });
    expect(problemsOf({ commands: bad })).toEqual([
      "tool_schemas.pay.commands.rules[0].when.amount.at_most: `fifty` is no bound: write a number, an amount such as 50 EUR, a date such as 2026-01-31, or a time with its offset",
    ]);
  });
});

test("a call that a variant denies says that a rule of the tool does it", () => {
  const variants: VariantsDocument = { argument: "name", rules: [{ equals: ["a"], tier: "deny" }] };
  const refusal = startStory(policy({ variants })).refused("pay", { name: "a" });
  expect(refusal.refusal.message).toContain("A rule of the tool denies it.");
});

test("what each condition says of a call can be explained", () => {
  const explained = (tool: ToolDocument, args: JsonObject) =>
    compiled(policy(tool)).tool("pay").testedRulesOf?.(args, UNKNOWN_SPENDING) ?? [];
  const variants: VariantsDocument = {
    argument: "method",
    rules: [
      { equals: ["card"], when: { amount: { at_most: 50 } }, tier: "allow" },
      { equals: ["wire"], tier: "deny" },
      { when: { amount: { above: 90 } }, tier: "deny" },
    ],
  };
  expect(explained({ variants }, { method: "card", amount: "many" })).toMatchObject([
    { name: "variants.rules[0]", truth: "unreadable" },
    { name: "variants.rules[2]", truth: "unreadable" },
  ]);
  expect(explained({ variants }, { method: "wire", amount: 5 })).toEqual([
    {
      name: "variants.rules[0]",
      truth: false,
      tests: [{ text: "amount at_most 50", truth: true }],
    },
    { name: "variants.rules[2]", truth: false, tests: [{ text: "amount above 90", truth: false }] },
  ]);
  const when = { env: { equals: "prod" } };
  const commands: CommandsDocument = { rules: [{ run: ["frob"], when, tier: "deny" }] };
  const tests = [{ text: 'env equals "prod"', truth: true }];
  expect(explained({ commands }, { command: "frob a", env: "prod" })).toEqual([
    { name: "commands.rules[0]", truth: true, tests },
  ]);
  expect(explained({ commands }, { command: "ls", env: "prod" })).toEqual([
    { name: "commands.rules[0]", truth: false, tests: [] },
  ]);
  expect(explained({ variants: { argument: "a", rules: [{ equals: ["b"] }] } }, {})).toEqual([]);
});
