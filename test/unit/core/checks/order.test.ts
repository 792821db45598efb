import { expect, test } from "vitest";
import { CHECKS } from "../../../../services/core/checks/order.ts";
import type { CheckModes, PolicyDocument } from "../../../../services/core/policy/document.ts";
import { CHECK_ORDER } from "../../../../services/core/reasons/check-reasons.ts";
import { startStory } from "../../../support/decider-spec.ts";

const DOCUMENTED = [
  "conversation",
  "budgets",
  "duplicate",
  "history",
  "near_duplicate",
  "side_effects",
  "loops",
  "acknowledgement",
  "denials",
  "tier",
  "denied_forms",
];

test("the checks are in the documented order", () => {
  const names = CHECKS.map(({ name }) => name);
  expect(names).toEqual(CHECK_ORDER);
  expect(names.filter((name) => DOCUMENTED.includes(name))).toEqual(DOCUMENTED);
});

/** One call that every check has a reason against. */
const ALL: PolicyDocument = {
  budgets: { max_tool_calls: 1 },
  escalation: { end: { at: 1, lasts: "turn" } },
  tool_schemas: {
    make: {
      effects: [{ resource: "thing/{id}", kind: "create" }],
      frequency: { count: 1, windowMs: 60_000 },
    },
  },
};

test("the first enforced reason decides, and those before it become notes", () => {
  const order = [
    "budget_calls",
    "duplicate_call",
    "side_effect_conflict",
    "tool_frequency",
  ] as const;
  for (const [at, decisive] of order.entries()) {
    const before = order.slice(0, at);
    const checks: CheckModes = Object.fromEntries(
      before.map((code, n) => [code, n % 2 === 0 ? "warn" : "shadow"]),
    );
    const story = startStory({ ...ALL, checks });
    story.done("make", { id: 1 });
    const {
      refusal,
      notices: { warnings, shadow },
    } = story.refused("make", { id: 1 });
    expect(refusal.reason).toBe(decisive);
    expect(warnings.map(({ reason }) => reason)).toEqual(before.filter((_, n) => n % 2 === 0));
    expect(shadow.map(({ reason }) => reason)).toEqual(before.filter((_, n) => n % 2 === 1));
  }
});

test("an ended conversation refuses a call before any other check", () => {
  const story = startStory({ ...ALL, checks: { budget_calls: "off" } });
  story.done("make", { id: 1 });
  expect(story.reason("make", { id: 1 })).toBe("duplicate_call");
  expect(story.reason("make", { id: 1 })).toBe("conversation_ended");
});
