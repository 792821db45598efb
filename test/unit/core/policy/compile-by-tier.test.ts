import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../../services/core/canonical/json-value.ts";
import { compilePolicy } from "../../../../services/core/policy/compile-policy.ts";
import { toolOfCall } from "../../../../services/core/policy/compiled.ts";
import type { PolicyDocument, PolicyTier } from "../../../../services/core/policy/document.ts";
import { capabilities } from "../../../../services/gate/capabilities.ts";
import { compiled } from "../../../support/core/compile.ts";
import { startStory } from "../../../support/decider-spec.ts";

const SMALL: PolicyTier = {
  name: "small refunds",
  pattern: "issue_refund",
  action: "allowlist",
  when: { amount: { at_most: 50 } },
};
const ASK: PolicyTier = {
  name: "refunds",
  pattern: "issue_refund",
  action: "hitl",
  expires_ms: 1000,
};

const policy = (
  tiers: readonly PolicyTier[] = [SMALL, ASK],
  tools: PolicyDocument["tool_schemas"] = {},
  action: "allow" | "ask" | "deny" = "ask",
) => ({ authorization: { default: action, tiers }, tool_schemas: tools }) satisfies PolicyDocument;

function toolOf(document: PolicyDocument, args: JsonObject, name = "issue_refund") {
  return toolOfCall(compiled(document), name, args);
}

const actionOf = (document: PolicyDocument, args: JsonObject, name?: string) =>
  toolOf(document, args, name).tier.action;

describe("a tier with a condition", () => {
  test("applies to the calls that its condition holds for", () => {
    expect(actionOf(policy(), { amount: 50 })).toBe("allowlist");
    expect(actionOf(policy(), { amount: "50.01" })).toBe("hitl");
  });

  test("leaves the others to the next tier, or to the default", () => {
    for (const [action, expected] of [
      ["ask", "hitl"],
      ["deny", "deny"],
      ["allow", "allow"],
    ] as const) {
      expect(actionOf(policy([SMALL], {}, action), { amount: 51 })).toBe(expected);
    }
  });

  test("makes a call that it cannot read as strict as itself and what follows", () => {
    for (const args of [{}, { amount: null }, { amount: "many" }]) {
      expect(actionOf(policy(), args)).toBe("hitl");
      const deny = { ...ASK, action: "deny", when: { amount: { above: 50 } } } as PolicyTier;
      const rest: PolicyTier = { name: "rest", pattern: "*", action: "allowlist" };
      expect(actionOf(policy([deny, rest]), args)).toBe("deny");
    }
    const why = toolOf(policy(), {}).why;
    expect(why).toContain("does not show whether `amount at_most 50` holds");
  });

  test("makes a tool a read only where each of its tiers allows", () => {
    expect(toolOf(policy(), { amount: 5 }).isRead).toBe(false);
    expect(toolOf(policy([SMALL]), { amount: 5 }).isRead).toBe(false);
    const rest: PolicyTier = { name: "rest", pattern: "issue_*", action: "allowlist" };
    expect(toolOf(policy([SMALL, rest]), { amount: 5 }).isRead).toBe(true);
  });

  test("takes the default of the schema for an argument that a call leaves out", () => {
    const input_schema = { type: "object", properties: { amount: { type: "number", default: 5 } } };
    const document = policy([SMALL, ASK], { issue_refund: { input_schema } });
    expect(actionOf(document, {})).toBe("allowlist");
    expect(actionOf(document, { amount: 60 })).toBe("hitl");
  });

  test("works beside variants and commands", () => {
    const tools: PolicyDocument["tool_schemas"] = {
      issue_refund: {
        variants: {
          argument: "op",
          rules: [
            { equals: ["look"], read_only: true },
            { equals: ["void"], tier: "refunds" },
          ],
        },
      },
      bash: { commands: { rules: [{ run: ["git push"], tier: "refunds" }] } },
    };
    const work: PolicyTier = {
      name: "work",
      pattern: "bash",
      action: "allowlist",
      when: { host: { equals: "dev" } },
    };
    const document = policy([SMALL, ASK, work], tools);
    expect(toolOf(document, { op: "look", amount: 5 })).toMatchObject({ isRead: true });
    expect(actionOf(document, { op: "put", amount: 5 })).toBe("allowlist");
    expect(actionOf(document, { op: "void", amount: 5 })).toBe("hitl");
    expect(actionOf(document, { command: "ls", host: "dev" }, "bash")).toBe("allowlist");
    expect(actionOf(document, { command: "git push", host: "dev" }, "bash")).toBe("hitl");
    expect(actionOf(document, { command: "touch a", host: "prod" }, "bash")).toBe("hitl");
  });

  test("holds for a name that only looks like a declared tool, too", () => {
    const document = policy([SMALL, ASK], { issue_refund: {} });
    const tool = toolOf(document, { amount: 5 }, "Issue_Refund");
    expect(tool).toMatchObject({ isDeclared: false, likeTool: "issue_refund" });
    expect(tool.tier.action).toBe("hitl");
  });

  test("binds an approval to its condition", () => {
    const held = { ...ASK, when: { amount: { above: 50 } } } as PolicyTier;
    const other = { ...ASK, when: { amount: { above: 60 } } } as PolicyTier;
    const digest = (tier: PolicyTier) => toolOf(policy([tier]), { amount: 70 }).ruleDigest;
    expect(digest(held)).not.toBe(digest(other));
  });

  test("holds calls beyond its bound, and says why where it cannot read one", () => {
    const story = startStory(policy([SMALL, ASK], { issue_refund: { repeatable: true } }));
    story.allowed("issue_refund", { amount: 50 });
    story.held("issue_refund", { amount: 50.01 });
    const held = story.held("issue_refund", { amount: "all of it" });
    expect(JSON.stringify(held)).toContain("`amount at_most 50` holds");
  });
});

describe("a condition that no call can meet", () => {
  const problemsOf = (
    when: PolicyTier["when"],
    tool: NonNullable<PolicyDocument["tool_schemas"]>[string],
  ) => {
    const tier = { ...SMALL, when } as PolicyTier;
    const result = compilePolicy(policy([tier, ASK], { issue_refund: tool }), capabilities, {
      revision: "r",
      keyId: "k",
    });
    return result.ok ? [] : result.problems.map(({ path, message }) => `${path}: ${message}`);
  };
  const schema = (properties: JsonObject, more: JsonObject = { additionalProperties: false }) => ({
    input_schema: { type: "object", properties, ...more },
  });

  test.each([
    [{ amount: { at_most: 50 } }, schema({ amount: { type: "number" } })],
    [{ amount: { at_most: 50 } }, schema({ amount: { type: ["string", "null"] } })],
    [{ amount: { at_most: 50 } }, schema({ other: {} }, {})],
    [{ amount: { at_most: 50 } }, schema({ amount: { $ref: "#/$defs/a" } }, { $defs: { a: {} } })],
    [
      { "to[]": { domain: ["a.org"] } },
      schema({ to: { type: "array", items: { type: "string" } } }),
    ],
    [{ env: { in: ["a"] } }, schema({ env: { enum: ["a", "b"] } })],
  ])("is not %j", (when, tool) => {
    expect(problemsOf(when, tool)).toEqual([]);
  });

  test.each([
    [
      { amont: { at_most: 50 } },
      schema({ amount: {} }),
      "amont: `amont` is no argument in the schema",
    ],
    [
      { "order.x": { present: true } },
      schema({ order: { properties: { y: {} }, additionalProperties: false } }),
      "is no argument",
    ],
    [
      { amount: { at_most: 50 } },
      schema({ amount: { type: "boolean" } }),
      "amount.at_most: `amount` of `issue_refund` is boolean, and `at_most` reads number",
    ],
    [{ when: { below: "2026-01-31" } }, schema({ when: { type: "integer" } }), "reads string"],
    [{ to: { count: { at_most: 5 } } }, schema({ to: { type: "string" } }), "reads array"],
    [
      { "to[]": { domain: ["a.org"] } },
      schema({ to: { type: "array", items: { type: "number" } } }),
      "reads string",
    ],
    [
      { env: { equals: "prod" } },
      schema({ env: { enum: ["production", "staging"] } }),
      "write one of production, staging",
    ],
    [
      { amount: { at_most: "50 EUR" } },
      schema({ amount: {}, currency: { const: "USD" } }),
      "`currency` is never EUR: write the amount in USD",
    ],
    [{ amount: { at_most: 50 } }, { sensitive: ["amount"] }, "is sensitive"],
  ])("is reported: %j", (when, tool, expected) => {
    const problems = problemsOf(when, tool);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain(expected);
    expect(problems[0]).toMatch(/^authorization\.tiers\[0\]\.when/);
  });

  test("needs a default that somebody wrote", () => {
    const result = compilePolicy({ authorization: { tiers: [SMALL, ASK] } }, capabilities, {
      revision: "r",
      keyId: "k",
    });
    expect(result).toMatchObject({
      ok: false,
      problems: [{ path: "authorization.tiers[0].when" }],
    });
  });
});
