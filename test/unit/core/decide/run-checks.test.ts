import { describe, expect, test } from "vitest";
import { LIMITS } from "../../../../services/core/limits.ts";
import type { PolicyDocument } from "../../../../services/core/policy/document.ts";
import { isAlwaysEnforced, REASON_CODES } from "../../../../services/core/reasons/reasons.ts";
import { startStory } from "../../../support/decider-spec.ts";

const POLICY: PolicyDocument = {
  budgets: { max_tool_calls: 1 },
  authorization: { tiers: [{ name: "ask", pattern: "ask", action: "hitl" }] },
  tool_schemas: { write: {}, look: { read_only: true }, ask: {} },
};

describe("shadow mode applies nothing and records everything", () => {
  test("for a policy as a whole", () => {
    const story = startStory({ ...POLICY, mode: "shadow" });
    story.done("write");
    const again = story.allowed("write");
    expect(again.notices.shadow.map(({ reason }) => reason)).toEqual([
      "budget_calls",
      "duplicate_call",
    ]);
    expect(story.allowed("ask").notices.shadow.at(-1)?.reason).toBe("approval_required");
    expect(story.allowed("nobody").notices.shadow[0]).toMatchObject({
      reason: "unknown_tool",
      rule: "unknown_tools",
    });
  });

  test("except what is always enforced", () => {
    const story = startStory({ ...POLICY, mode: "shadow" });
    expect(story.reason("write", "{")).toBe("malformed");
    for (const code of REASON_CODES.filter(isAlwaysEnforced))
      expect(story.policy.tool("write").modes[code]).toBe("enforce");
  });
});

test("a note has the reason's own sentence and the details", () => {
  const story = startStory({ ...POLICY, checks: { budget_calls: "warn" } });
  story.allowed("write", { n: 1 });
  const [note] = story.allowed("write", { n: 2 }).notices.warnings;
  expect(note).toMatchObject({ reason: "budget_calls", rule: "budgets.max_tool_calls" });
  expect(note?.message).toContain("The limit is 1 tool calls for each turn.");
});

test("a tool may override the policy's mode", () => {
  const story = startStory({
    ...POLICY,
    checks: { budget_calls: "off", duplicate_call: "off" },
    tool_schemas: { write: { checks: { duplicate_call: "enforce" } }, look: { read_only: true } },
  });
  story.done("write");
  expect(story.reason("write")).toBe("duplicate_call");
  story.done("look");
  story.allowed("look");
});

test("the number of notes is bounded", () => {
  const effects = Array.from({ length: 40 }, (_, n) => ({
    resource: `r/${n}/{id}`,
    kind: "create" as const,
  }));
  const story = startStory({
    checks: { side_effect_conflict: "warn", duplicate_call: "off" },
    tool_schemas: { make: { effects } },
  });
  story.done("make", { id: 1 });
  expect(story.allowed("make", { id: 1 }).notices.warnings).toHaveLength(LIMITS.noticesPerDecision);
});
