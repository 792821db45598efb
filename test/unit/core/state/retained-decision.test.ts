import { expect, test } from "vitest";
import type { DecisionEvent } from "../../../../services/core/events.ts";
import { keepDecision, recallDecision } from "../../../../services/core/state/retained-decision.ts";
import { HOUR, MINUTE, startStory } from "../../../support/decider-spec.ts";

const POLICY = {
  authorization: {
    tiers: [
      { name: "removals", pattern: "delete_*", action: "hitl", expires_ms: 30 * MINUTE },
      { name: "few", pattern: "put", action: "per_conversation_grant", ceiling: 5 },
    ],
  },
  tool_schemas: {
    look: { read_only: true },
    write: { canonical_fields: ["to"] },
    make: { effects: [{ resource: "thing/{id}", kind: "create" }] },
    again: { repeatable: true },
  },
} as const;

/** One decision of each kind, and one with the members that an ordinary call leaves empty. */
function decisions(): readonly DecisionEvent[] {
  const story = startStory(POLICY);
  story.done("look", {}, "seen");
  story.refused("look");
  story.done("write", { to: "a", note: "b" });
  story.allowed("make", { id: 2 }, { confirmation: "yes" });
  story.done("put");
  story.held("delete_all", { all: true });
  story.reported(story.allowed("again", { n: 1 }), { status: "failed" });
  story.after(MINUTE).allowed("again", { n: 1 });
  story.after(2 * HOUR).allowed("look");
  return story.journal.filter(
    (event): event is DecisionEvent =>
      event.type === "allowed" || event.type === "refused" || event.type === "held",
  );
}

test("a decision is restored from the retained part and the proposal", () => {
  const all = decisions();
  expect(new Set(all.map(({ type }) => type))).toEqual(new Set(["allowed", "refused", "held"]));
  for (const decision of all) {
    expect(recallDecision(keepDecision(decision), decision.arguments.text)).toEqual(decision);
  }
});

test("a retained decision has no arguments", () => {
  for (const decision of decisions()) {
    expect(keepDecision(decision).arguments.text).toBe("");
  }
});
