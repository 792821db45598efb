import { describe, expect, test } from "vitest";
import { stricter } from "../../../../services/core/policy/compile-tiers.ts";
import { toolOfCall } from "../../../../services/core/policy/compiled.ts";
import type {
  PolicyDocument,
  PolicyTier,
  ToolDocument,
} from "../../../../services/core/policy/document.ts";
import { compiled } from "../../../support/core/compile.ts";
import { startStory } from "../../../support/decider-spec.ts";

const TIERS: readonly PolicyTier[] = [
  { name: "reads", pattern: "get_*", action: "allowlist" },
  { name: "few", pattern: "put_*|add_*", action: "per_conversation_grant", ceiling: 3 },
  {
    name: "ask",
    pattern: "drop_*",
    action: "hitl",
    approvals: 1,
    expires_ms: 1_000,
    require_reason: true,
  },
  { name: "never", pattern: "drop_all|wipe_*", action: "deny" },
  {
    name: "more",
    pattern: "push_*",
    action: "per_conversation_grant",
    ceiling: 1,
    ttl_ms: 5,
    on_exceeded: "hitl",
  },
];

const policy = (tools: PolicyDocument["tool_schemas"] = {}, tiers = TIERS) =>
  compiled({ authorization: { tiers }, tool_schemas: tools });

const tierOf = (name: string, tool: NonNullable<PolicyDocument["tool_schemas"]>[string] = {}) =>
  policy({ [name]: tool }).tool(name).tier;

describe("the tier of a tool", () => {
  test("is the first whose pattern matches", () => {
    expect(tierOf("get_a")).toMatchObject({ action: "allowlist", name: "reads", rate: null });
    expect(tierOf("drop_all")).toMatchObject({ action: "hitl", name: "ask" });
    expect(tierOf("wipe_disk")).toEqual({
      action: "deny",
      name: "never",
      rule: "authorization.tiers[3]",
    });
    expect(tierOf("push_a")).toMatchObject({
      ceiling: 1,
      ttlMs: 5,
      onExceeded: { expiresMs: 1_000, requireReason: true },
    });
    expect(tierOf("put_a")).toMatchObject({ ttlMs: null, onExceeded: null });
  });

  test("is the stricter of pattern and risk", () => {
    expect(tierOf("get_a", { risk_level: "HIGH" })).toMatchObject({ action: "hitl", name: "ask" });
    expect(tierOf("get_a", { risk_level: "MEDIUM" })).toMatchObject({ name: "few" });
    expect(tierOf("get_a", { risk_level: "LOW" })).toMatchObject({ name: "reads" });
    expect(tierOf("drop_a", { risk_level: "LOW" })).toMatchObject({ name: "ask" });
    expect(tierOf("wipe_a", { risk_level: "HIGH" })).toMatchObject({ action: "deny" });
  });

  test("is that of the risk where no pattern matches, or none where it has no risk", () => {
    expect(tierOf("other", { risk_level: "HIGH" })).toMatchObject({ action: "hitl" });
    expect(tierOf("other")).toEqual({ action: "allow", name: null, rule: "preset" });
  });

  test("requires one approval within fifteen minutes where the policy has no hitl tier", () => {
    const { tier } = policy({ other: { risk_level: "HIGH" } }, []).tool("other");
    expect(tier).toEqual({
      action: "hitl",
      name: null,
      rule: "tool_schemas.other.risk_level",
      hold: { expiresMs: 900_000, requireReason: false, approvals: 1 },
    });
    const medium = policy({ other: { risk_level: "MEDIUM" } }, []).tool("other").tier;
    expect(medium.action).toBe("allow");
  });
});

describe("an undeclared tool", () => {
  const unknown = (unknown_tools: string) =>
    compiled({ authorization: { tiers: TIERS }, unknown_tools }).tool("nobody");

  test("is refused, held, allowed, or in the tier that the policy says", () => {
    expect(unknown("deny")).toMatchObject({ isDeclared: false, tier: { action: "allow" } });
    expect(unknown("hitl").tier).toMatchObject({ action: "hitl", name: "ask" });
    expect(unknown("allow").tier).toMatchObject({ action: "allow", rule: "unknown_tools" });
    expect(unknown("few").tier).toMatchObject({ action: "grant", name: "few" });
    expect(() => unknown("nothing")).toThrow(/unknown_tools: `nothing` is none of/);
  });
});

test("an approval is bound to schema and tier, since their digest changes with either", () => {
  const digest = (tool: NonNullable<PolicyDocument["tool_schemas"]>[string], tiers = TIERS) =>
    policy({ drop_a: tool }, tiers).tool("drop_a").ruleDigest;
  const one = digest({});
  expect(digest({ suggest: ["get_a"] })).toBe(one);
  expect(digest({ input_schema: { type: "object" } })).not.toBe(one);
  expect(digest({}, TIERS.slice(2))).not.toBe(one);
});

test("the longest hold is that of any tier, or the default", () => {
  expect(policy().longestHoldMs).toBe(900_000);
  const long = { name: "l", pattern: "x", action: "hitl", expires_ms: 3_600_000 } as const;
  expect(policy({}, [long]).longestHoldMs).toBe(3_600_000);
});

test("a later tier of this order is stricter, and of equals the first counts", () => {
  const find = (name: string) => tierOf(name);
  const [allow, ...others] = ["any", "get_a", "put_a", "drop_a", "wipe_a"].map(find);
  const order = [allow ?? find("any"), ...others];
  expect(order.map(({ action }) => action)).toEqual([
    "allow",
    "allowlist",
    "grant",
    "hitl",
    "deny",
  ]);
  for (const [at, one] of order.entries()) {
    for (const later of order.slice(at + 1)) {
      expect([stricter(one, later), stricter(later, one)]).toEqual([later, later]);
    }
    const equal = { ...one };
    expect(stricter(one, equal)).toBe(one);
  }
});

test("a hold is of the tool's one rule where the tool has no variants", () => {
  const hold = startStory({ tool_schemas: { risky: { risk_level: "HIGH" } } }).held("risky");
  expect(hold.scope).toEqual({ of: hold.rule, notOf: [] });
});

describe("`authorization.default`", () => {
  const tierBy = (
    action: "allow" | "ask" | "deny" | undefined,
    tool: ToolDocument,
    more: PolicyDocument = {},
    tiers = TIERS,
  ) =>
    compiled({
      ...more,
      authorization: { tiers, ...(action === undefined ? {} : { default: action }) },
      tool_schemas: { send: tool },
    }).tool("send").tier;
  const rule = "authorization.default";

  test("decides on a write that nothing names", () => {
    expect(tierBy("allow", {})).toEqual({ action: "allow", name: null, rule });
    expect(tierBy("deny", {})).toEqual({ action: "deny", name: null, rule });
    expect(tierBy("ask", {})).toMatchObject({ action: "hitl", name: "ask" });
    expect(tierBy("ask", {}, {}, [])).toMatchObject({ action: "hitl", name: null, rule });
    expect(tierBy(undefined, {})).toEqual({ action: "allow", name: null, rule: "preset" });
  });

  test("overrides the preset", () => {
    const strict = { preset: "strict" } as const;
    expect(tierBy(undefined, {}, strict).action).toBe("hitl");
    expect(tierBy("allow", {}, strict).action).toBe("allow");
    expect(tierBy("deny", {}, strict).action).toBe("deny");
  });

  test("leaves reads, and what a tier or a risk names, as they are", () => {
    for (const action of ["ask", "deny"] as const) {
      expect(tierBy(action, { read_only: true }).action).toBe("allow");
      expect(tierBy(action, { risk_level: "LOW" }).action).toBe("allow");
      expect(tierBy(action, { risk_level: "MEDIUM" }).action).toBe("grant");
    }
    expect(tierBy("deny", { risk_level: "HIGH" }).action).toBe("hitl");
  });

  test("decides on the risk MEDIUM where no tier grants calls", () => {
    const medium = { risk_level: "MEDIUM" } as const;
    expect(tierBy(undefined, medium, {}, []).action).toBe("allow");
    expect(tierBy("allow", medium, {}, []).action).toBe("allow");
    expect(tierBy("ask", medium, {}, []).action).toBe("hitl");
    expect(tierBy("deny", medium, {}, []).action).toBe("deny");
  });

  test("holds what a program declares, and what a rule without a tier leaves to the tool", () => {
    const document: PolicyDocument = {
      authorization: { default: "ask" },
      tool_schemas: {
        run: {
          variants: {
            argument: "op",
            rules: [{ equals: ["look"], read_only: true }, { equals: ["put"] }],
          },
        },
      },
    };
    const policy = compiled(document);
    const of = (op: string) => toolOfCall(policy, "run", { op }).tier.action;
    expect([of("look"), of("put"), of("drop")]).toEqual(["allow", "hitl", "hitl"]);
    expect(compiled({ authorization: { default: "ask" } }).tool("any").tier.action).toBe("hitl");
  });

  test("says in a refusal that nothing allows the write", () => {
    const story = startStory({ authorization: { default: "deny" }, tool_schemas: { send: {} } });
    const decision = story.refused("send");
    expect(decision).toMatchObject({ refusal: { reason: "tier_denied" } });
    expect(JSON.stringify(decision)).toContain("No rule of the policy allows this write.");
  });
});
