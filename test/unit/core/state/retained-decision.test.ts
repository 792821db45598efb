import { expect, test } from "vitest";
import { ledgerEntries } from "../../../../services/collections/ledger.ts";
import type { DecisionEvent } from "../../../../services/core/events.ts";
import {
  type CallTerms,
  keepDecision,
  type Redelivered,
  recallDecision,
} from "../../../../services/core/state/retained-decision.ts";
import { restoreState, snapshotState } from "../../../../services/core/state/snapshot.ts";
import type { ConversationState } from "../../../../services/core/state/state.ts";
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

/** What a proposal that is delivered again brings. */
function redeliveredBy({
  tenantId,
  conversationId,
  call,
  arguments: args,
}: DecisionEvent): Redelivered {
  const { callId, turn, step, tool } = call;
  const { text, digest } = args;
  return { tenantId, conversationId, call: { callId, turn, step, tool }, text, digest };
}

test("a decision is restored from the retained part and the proposal", () => {
  const all = decisions();
  expect(new Set(all.map(({ type }) => type))).toEqual(new Set(["allowed", "refused", "held"]));
  for (const decision of all) {
    expect(recallDecision(keepDecision(decision, null), redeliveredBy(decision))).toEqual(decision);
  }
});

test("a retained decision has neither arguments nor what identifies it", () => {
  for (const decision of decisions()) {
    const retained = keepDecision(decision, null);
    if (retained.type !== "allowed") expect(retained.arguments.text).toBe("");
    else expect(Object.keys(retained)).not.toContain("arguments");
  }
});

/** The terms of the allowed calls of a state, each once. */
function termsIn({ loose, retained }: ConversationState): ReadonlySet<CallTerms> {
  const decisions = [loose, retained].flatMap(ledgerEntries).map(({ value }) => value);
  return new Set(decisions.flatMap((one) => (one.type === "allowed" ? [one.terms] : [])));
}

test("calls under one policy have their terms in common", () => {
  const story = startStory(POLICY);
  for (const id of [1, 2, 3]) {
    story.done("look", { id }, "seen");
    story.done("make", { id });
  }
  const state = story.state as ConversationState;
  expect(termsIn(state).size).toBe(2);
  expect(termsIn(restoreState(snapshotState(state))).size).toBe(2);
});
