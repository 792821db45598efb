import { describe, expect, test } from "vitest";
import { voidableRules } from "../../../../../services/cli/policy/trusted-proposals.ts";
import type { PolicyDocument } from "../../../../../services/core/policy/document.ts";
import { lint } from "../../../../support/policy/linted.ts";

const startsOf = (document: PolicyDocument) =>
  voidableRules(document).map(({ what }) => what.slice(0, what.indexOf(":")));

describe("rules that a writer of proposals can bypass", () => {
  test.each<readonly [string, PolicyDocument]>([
    ["budgets per turn", { budgets: { max_tool_calls: 3 } }],
    ["budgets per turn", { budgets: { per_tool: { max_tool_calls: 3 } } }],
    [
      "budgets of spend",
      { budgets: { per_conversation: { max_spend: { amount: "1", currency: "USD" } } } },
    ],
    ["budgets per turn", { budgets: { by_name: { b: { tools: "a", amount: "x", per: "turn" } } } }],
    ["budgets of spend", { budgets: { by_name: { b: { tools: "a" } } } }],
    ["`kill.agents`", { kill: { agents: ["a"] } }],
    [
      "the ban on approving one's own call",
      { authorization: { tiers: [{ name: "ask", pattern: "*", action: "hitl" }] } },
    ],
    ["duplicates and exclusive effects", { tool_schemas: { write: {} } }],
  ])("include %s", (what, document) => {
    expect(startsOf(document)).toEqual([what]);
  });

  test("do not exist in a policy of reads, budgets per conversation and killed tools", () => {
    const document: PolicyDocument = {
      budgets: {
        per_conversation: { max_tool_calls: 3 },
        by_name: { b: { tools: "a", amount: "x" } },
      },
      kill: { agents: [], tools: ["a"] },
      tool_schemas: { look: { read_only: true } },
    };
    expect(startsOf(document)).toEqual([]);
  });
});

test("are reported by lint for a killed agent", () => {
  const findings = lint("kill: { agents: [a] }\ntool_schemas: { a: { read_only: true } }\n");
  const [finding] = findings.filter(({ code }) => code === "trusted-proposals");
  expect(finding).toMatchObject({ severity: "info", path: "kill.agents", line: 1 });
  expect(finding?.message).toContain("a proposal may leave out `agentId`");
});
