import { describe, expect, test } from "vitest";
import type { PolicyDocument } from "../../../../services/core/policy/document.ts";
import { stateFromText, stateText } from "../../../support/core/state-text.ts";
import { type Story, startStory } from "../../../support/decider-spec.ts";

const POLICY: PolicyDocument = {
  edges: {
    contains: [["customer/{id}", "order/{id}"]],
    derives: [["order/{id}/payment", "invoice/{id}"]],
  },
  authorization: { tiers: [{ name: "ask", pattern: "ask_*", action: "hitl" }] },
  tool_schemas: {
    make: { effects: [{ resource: "order/{id}", kind: "create" }] },
    drop: { effects: [{ resource: "order/{id}", kind: "delete" }] },
    charge: { effects: [{ resource: "order/{id}/payment", kind: "charge" }] },
    ask_charge: { effects: [{ resource: "order/{id}/payment", kind: "charge" }] },
    bill: { effects: [{ resource: "invoice/{id}", kind: "send" }] },
    move: { effects: [{ resource: "customer/{id}", kind: "transfer" }] },
    note: { effects: [{ resource: "order/{id}/note", kind: "create" }] },
    item: { effects: [{ resource: "order/{id}/item/{n}", kind: "send" }] },
    ask_item: { effects: [{ resource: "order/{id}/item/{n}", kind: "send" }] },
    drop_note: { effects: [{ resource: "order/{id}/note", kind: "delete" }] },
    confirm: { effects: [{ resource: "order/{id}", kind: "send" }] },
  },
};

const ID = { id: 7 };

function conflictOf(story: Story, tool: string) {
  const { refusal } = story.refused(tool, ID);
  expect(refusal.reason).toBe("side_effect_conflict");
  return refusal.conflict;
}

describe("a delete or transfer conflicts", () => {
  test("with an effect on a contained resource, and the refusal shows the path", () => {
    const story = startStory(POLICY);
    story.done("charge", ID);
    expect(conflictOf(story, "drop")).toEqual({
      resource: "order/7",
      path: ["charge", "order/7/payment", "order/7", "drop"],
    });
  });

  test("with an effect on an ancestor, also one over an edge", () => {
    const story = startStory(POLICY);
    story.done("move", ID);
    expect(conflictOf(story, "charge")?.path).toEqual([
      "move",
      "customer/7",
      "order/7",
      "order/7/payment",
      "charge",
    ]);
  });

  test("with effects on contained resources over an edge, and with held ones", () => {
    const story = startStory(POLICY);
    story.done("charge", ID);
    expect(conflictOf(story, "move")?.path).toEqual([
      "charge",
      "order/7/payment",
      "order/7",
      "customer/7",
      "move",
    ]);
    const other = startStory(POLICY);
    other.held("ask_charge", ID);
    expect(conflictOf(other, "drop")?.path).toContain("order/7/payment");
  });

  test("with the effect on the last of two contained resources", () => {
    const story = startStory(POLICY);
    story.done("item", { ...ID, n: 1 });
    story.reported(story.allowed("item", { ...ID, n: 2 }), { status: "not_executed" });
    expect(conflictOf(story, "drop")?.path).toContain("order/7/item/1");
  });

  test("with neither other resources nor an effect that never happened", () => {
    const story = startStory(POLICY);
    story.done("charge", { id: 8 });
    story.reported(story.allowed("charge", ID), { status: "not_executed" });
    story.done("drop", ID);
  });

  test("only before the effect on a contained resource, not after it", () => {
    const story = startStory(POLICY);
    story.done("drop_note", ID);
    story.done("confirm", ID);
  });

  test("not with the effect that it undoes", () => {
    const story = startStory(POLICY);
    story.done("make", ID);
    story.done("note", ID);
    story.done("drop", ID);
  });

  test("with the same one of several effects before and after a snapshot", () => {
    for (const tool of ["item", "ask_item"]) {
      const story = startStory(POLICY);
      for (const n of [2, 3, 1]) story.proposed(tool, { ...ID, n });
      const live = story.state;
      const first = conflictOf(story, "drop");
      expect(first?.path).toContain("order/7/item/1");
      if (live !== undefined) story.state = stateFromText(stateText(live));
      expect(conflictOf(story, "drop")).toEqual(first);
    }
  });

  test("as it did before a snapshot", () => {
    const story = startStory(POLICY);
    story.done("charge", ID);
    if (story.state !== undefined) story.state = stateFromText(stateText(story.state));
    conflictOf(story, "drop");
  });
});

test("an effect on a contained resource conflicts with none that neither deletes nor transfers the ancestor", () => {
  const story = startStory(POLICY);
  story.done("make", ID);
  story.done("note", ID);
  story.done("charge", ID);
});

test("one thing under two names may be charged once", () => {
  const story = startStory(POLICY);
  story.done("charge", ID);
  expect(conflictOf(story, "bill")).toEqual({
    resource: "invoice/7",
    path: ["charge", "order/7/payment", "invoice/7", "bill"],
  });
  const other = startStory(POLICY);
  other.done("bill", ID);
  expect(conflictOf(other, "charge")?.path).toEqual([
    "bill",
    "invoice/7",
    "order/7/payment",
    "charge",
  ]);
});
