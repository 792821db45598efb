import { describe, expect, test } from "vitest";
import type { JsonValue } from "../../../../services/core/canonical/json-value.ts";
import { compilePolicy } from "../../../../services/core/policy/compile-policy.ts";
import { toolOfCall } from "../../../../services/core/policy/compiled.ts";
import type {
  PolicyDocument,
  ToolDocument,
  VariantsDocument,
} from "../../../../services/core/policy/document.ts";
import { capabilities, compiled } from "../../../support/core/compile.ts";
import { MINUTE } from "../../../support/decider-spec.ts";

const TIERS: NonNullable<PolicyDocument["authorization"]> = {
  tiers: [
    { name: "free", pattern: "nothing", action: "allowlist" },
    { name: "ask", pattern: "no-one", action: "hitl", expires_ms: MINUTE },
    { name: "never", pattern: "nobody", action: "deny" },
  ],
};

function policy(variants: VariantsDocument, more: ToolDocument = {}): PolicyDocument {
  return { authorization: TIERS, tool_schemas: { meta: { ...more, variants } } };
}

function toolFor(variants: VariantsDocument, name: JsonValue, more: ToolDocument = {}) {
  return toolOfCall(compiled(policy(variants, more)), "meta", { tool_name: name });
}

const META: VariantsDocument = {
  argument: "tool_name",
  rules: [
    { like: "get_*|list_*", read_only: true },
    { equals: ["restart", "stop"], tier: "ask" },
  ],
};

describe("a call of a meta tool", () => {
  test("is judged by the first rule that matches its name, and is a write where none does", () => {
    const variant = (name: string, more: Partial<VariantsDocument> = {}) => {
      const tool = toolFor({ ...META, ...more }, name);
      return [tool.isRead, tool.tier.name];
    };
    expect(variant("get_user")).toEqual([true, null]);
    expect(variant("stop")).toEqual([false, "ask"]);
    expect(variant("delete_user")).toEqual([false, null]);
    expect(variant("delete_user", { otherwise: { tier: "never" } })).toEqual([false, "never"]);
  });

  test("may match any rule where its argument is missing or no text", () => {
    const chosen = (value: JsonValue) => toolFor(META, value).tier.name;
    expect([chosen(["restart"]), chosen("other"), chosen(null)]).toEqual(["ask", null, "ask"]);
    expect(toolOfCall(compiled(policy(META)), "meta", {}).tier.name).toBe("ask");
    const said = policy({ ...META, otherwise: { read_only: true } });
    expect(toolOfCall(compiled(said), "meta", {})).toMatchObject({ isRead: true });
    expect(toolOfCall(compiled(said), "meta", { tool_name: null }).tier.name).toBe("ask");
  });

  test("is chosen by any scalar, and by null where a rule names it", () => {
    const rules: VariantsDocument["rules"] = [
      { equals: ["true"], read_only: true },
      { equals: ["7", "null"], tier: "ask" },
    ];
    const chosen = (value: JsonValue) => {
      const tool = toolFor({ argument: "tool_name", rules, otherwise: {} }, value);
      return [tool.isRead, tool.tier.name];
    };
    expect([true, "true"].map(chosen)).toEqual([
      [true, null],
      [true, null],
    ]);
    expect([7, null].map(chosen)).toEqual([
      [false, "ask"],
      [false, "ask"],
    ]);
    expect([false, 7.5].map(chosen)).toEqual([
      [false, null],
      [false, null],
    ]);
  });

  test("is a read that may be repeated where its rule polls, unless it writes as well", () => {
    const polling = { max_calls: 9 };
    const rules: VariantsDocument["rules"] = [
      { equals: ["poll"], polling },
      { equals: ["send"], polling, effects: [{ resource: "r", kind: "send" }] },
    ];
    const variants = { argument: "tool_name", rules };
    expect(toolFor(variants, "poll")).toMatchObject({ isRead: true, polling });
    expect(toolFor(variants, "send")).toMatchObject({ isRead: false });
    expect(toolFor(variants, "other")).toMatchObject({ isRead: false, polling: null });
    const effects = [{ resource: "r", kind: "send" }] as const;
    expect(toolFor(variants, "poll", { effects: [...effects] })).toMatchObject({ isRead: false });
  });

  test("uses the schema's default of the argument, and an argument at any depth", () => {
    const input_schema = {
      type: "object",
      properties: { tool_name: { type: "string", default: "get_a" } },
    };
    const tool = compiled(policy(META, { input_schema }));
    expect(toolOfCall(tool, "meta", {}).isRead).toBe(true);
    const deep = compiled(policy({ ...META, argument: "call.name" }));
    expect(toolOfCall(deep, "meta", { call: { name: "get_a" } }).isRead).toBe(true);
  });

  test("of several lines is not allowed by a rule about its first line", () => {
    const rules = [{ match: "^get.*$", tier: "free" }];
    const action = (name: string) =>
      toolFor({ argument: "tool_name", rules, otherwise: { tier: "never" } }, name).tier.name;
    expect([action("get_a"), action("get_a\ndrop")]).toEqual(["free", "never"]);
  });
});

describe("rules about names of tools", () => {
  const action = (variants: VariantsDocument, name: string) =>
    toolFor({ argument: "tool_name", ...variants }, name).tier.action;

  test.each(["delete_x", "github/delete_x", "github__delete_x", "github.delete_x"])(
    "hold a tool under any namespace, by their tier and by their risk: %s",
    (name) => {
      expect(action({ rules: [{ like: "delete_*", tier: "ask" }] }, name)).toBe("hitl");
      expect(action({ rules: [{ like: "delete_*", risk_level: "HIGH" }] }, name)).toBe("hitl");
    },
  );

  test("let no name under a namespace evade a rule that holds", () => {
    const variants: VariantsDocument = {
      rules: [
        { like: "get_*", risk_level: "LOW" },
        { like: "list_*", risk_level: "HIGH" },
      ],
      otherwise: { tier: "never" },
    };
    const names = ["get_x", "github/get_x", "list_x", "github/list_x"];
    expect(names.map((name) => action(variants, name))).toEqual(["allow", "deny", "hitl", "deny"]);
  });
});

describe("a problem is reported with its path", () => {
  const argument = "tool_name";
  test.each<readonly [VariantsDocument, string]>([
    [{ rules: [{ equals: ["a"] }] }, ""],
    [{ argument, rules: [{ match: "(" }] }, ".rules[0].match"],
    [{ argument, rules: [{ read_only: true }] }, ".rules[0]"],
    [{ argument, rules: [{ match: "a", tier: "no" }] }, ".rules[0].tier"],
    [{ argument, otherwise: { tier: "no" } }, ".otherwise.tier"],
    [
      { argument, rules: [{ match: "a", effects: [{ resource: "}", kind: "send" }] }] },
      ".rules[0].effects[0].resource",
    ],
  ])("%j: %s", (variants, path) => {
    const result = compilePolicy(policy(variants), capabilities, { revision: "r", keyId: "k" });
    expect(result.ok ? [] : result.problems.map((problem) => problem.path)).toEqual([
      `tool_schemas.meta.variants${path}`,
    ]);
  });
});
