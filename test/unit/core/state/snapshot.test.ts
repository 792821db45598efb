import { describe, expect, test } from "vitest";
import { ledgerEntries } from "../../../../services/collections/ledger.ts";
import { decide } from "../../../../services/core/decide/decide.ts";
import { evolve } from "../../../../services/core/state/evolve.ts";
import type { ConversationState } from "../../../../services/core/state/state.ts";
import { stateFromText, stateText } from "../../../support/core/state-text.ts";
import { HOUR, SECOND, type Story, startStory } from "../../../support/decider-spec.ts";

/** Values that a snapshot stores of an entry of a ledger. */
const ENTRY_LENGTH = 5;

/** A conversation with an entry in every collection. */
function full(): Story {
  const story = startStory({
    conversation: { idle_ms: 48 * HOUR },
    authorization: {
      tiers: [
        { name: "few", pattern: "put", action: "per_conversation_grant", ceiling: 5 },
        {
          name: "rate",
          pattern: "get",
          action: "allowlist",
          rate_limit: { count: 9, windowMs: 999 },
        },
      ],
    },
    tool_schemas: {
      look: { read_only: true },
      write: {},
      make: { effects: [{ resource: "thing/{id}", kind: "create" }] },
      ask: { risk_level: "HIGH", effects: [{ resource: "card", kind: "charge" }] },
    },
  });
  story.done("look", {}, "seen");
  story.refused("look");
  story.done("write");
  story.refused("write");
  story.done("make", { id: 1 });
  story.allowed("make", { id: 2 }, { confirmation: "yes" });
  story.reported(story.allowed("write", { n: 2 }), { status: "unknown" });
  story.held("ask");
  story.done("put");
  story.done("get");
  return story;
}

describe("a snapshot", () => {
  test("restores a state whose snapshot is the same text", () => {
    const state = full().state as ConversationState;
    const text = stateText(state);
    expect(stateText(stateFromText(text))).toBe(text);
  });

  test("restores a state that decides and evolves as before", () => {
    const story = full();
    const restored = stateFromText(stateText(story.state as ConversationState));
    for (const [tool, args] of [
      ["look", "{}"],
      ["write", "{}"],
      ["write", '{"n":2}'],
      ["make", '{"id":2}'],
      ["ask", "{}"],
      ["put", "{}"],
    ] as const) {
      const proposal = story.proposal(tool, args);
      const [live] = decide(story.state, proposal, story.policy, story.nowMs);
      const [again] = decide(restored, proposal, story.policy, story.nowMs);
      expect(again).toEqual(live);
      if (live === undefined || again === undefined) throw new Error("no decision");
      expect(stateText(evolve(restored, again) as ConversationState)).toBe(
        stateText(evolve(story.state, live) as ConversationState),
      );
    }
  });

  test("leaves out entries that have ended, freed or not", () => {
    const story = startStory({
      conversation: { idle_ms: 48 * HOUR },
      deduplication: { window_ms: SECOND },
      idempotency: { ttl_ms: SECOND },
      tool_schemas: { look: { read_only: true }, write: {} },
    });
    story.done("write", { n: 1 });
    const before = JSON.parse(stateText(story.state as ConversationState));
    story.after(3 * HOUR).done("look");
    const after = JSON.parse(stateText(story.state as ConversationState));
    expect(before.priorWrites[1]).toHaveLength(ENTRY_LENGTH);
    expect(after.priorWrites[1]).toHaveLength(0);
  });

  test("leaves out an entry from exactly its end on", () => {
    const lengthAt = (offsetMs: number): number => {
      const story = startStory({ tool_schemas: { look: { read_only: true }, write: {} } });
      story.done("write", { n: 1 });
      const { state } = story;
      if (state === undefined) throw new Error("no state");
      const [entry] = ledgerEntries(state.priorWrites);
      const atMs = (entry?.dropAt ?? 0) + offsetMs;
      return (
        JSON.parse(stateText({ ...state, lastAtMs: atMs })).priorWrites[1].length / ENTRY_LENGTH
      );
    };
    expect([lengthAt(-1), lengthAt(0)]).toEqual([1, 0]);
  });
});
