import { describe, expect, test } from "vitest";
import { compilePolicy } from "../../../../services/core/policy/compile-policy.ts";
import type { PolicyDocument } from "../../../../services/core/policy/document.ts";
import { capabilities } from "../../../support/core/compile.ts";
import { startStory } from "../../../support/decider-spec.ts";

const ORDERS: PolicyDocument = {
  aliases: [{ resource: "order/{id}", names: ["charge_card.order", "create_invoice.order_id"] }],
  tool_schemas: {
    charge_card: { effects: [{ resource: "order/{id}/payment", kind: "charge" }] },
    create_invoice: {
      effects: [{ resource: "order/{id}/payment", kind: "custom", exclusive: true }],
    },
    get_order: { reads: ["order/{id}/payment"] },
  },
};

test("two arguments that an alias joins name one resource", () => {
  const story = startStory(ORDERS);
  story.done("create_invoice", { order_id: "7" });
  const { refusal } = story.refused("charge_card", { order: "7" });
  expect([refusal.reason, refusal.conflict?.resource]).toEqual([
    "side_effect_conflict",
    "order/7/payment",
  ]);
  story.allowed("charge_card", { order: "8" });
});

test("an alias of one tool does not affect another", () => {
  const story = startStory(ORDERS);
  story.done("get_order", { id: "7" });
  story.done("charge_card", { order: "8" });
  expect(story.refused("get_order", { id: "7" }).refusal.reason).toBe("duplicate_call");
});

describe("an invalid alias is reported with its path", () => {
  test.each([
    ["order", ["charge_card.order"], "aliases[0].resource"],
    ["order/{a}/{b}", ["charge_card.order"], "aliases[0].resource"],
    ["order/{id}", ["charge_card.order", "nobody.order"], "aliases[0].names[1]"],
    ["order/{id}", ["charge_card."], "aliases[0].names[0]"],
  ])("%s %j", (resource, names, path) => {
    const document = { ...ORDERS, aliases: [{ resource, names }] };
    const result = compilePolicy(document, capabilities, { revision: "sha256:x", keyId: "k" });
    expect(result.ok ? [] : result.problems.map((problem) => problem.path)).toEqual([path]);
  });
});
