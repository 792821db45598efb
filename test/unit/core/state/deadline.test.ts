import { expect, test } from "vitest";
import { hasLapsed } from "../../../../services/core/state/deadline.ts";
import type { ConversationState } from "../../../../services/core/state/state.ts";
import { HOUR, MINUTE, startStory } from "../../../support/decider-spec.ts";

const HELD = {
  conversation: { max_age_ms: HOUR, idle_ms: HOUR },
  authorization: {
    tiers: [{ name: "removals", pattern: "delete_*", action: "hitl", expires_ms: 30 * MINUTE }],
  },
  tool_schemas: { note: {} },
} as const;

test("a conversation lapses at the end of its life, but not while one of its calls is held", () => {
  const story = startStory(HELD);
  story.allowed("note", {});
  const atEnd = story.nowMs + HOUR;
  expect(hasLapsed(story.state as ConversationState, atEnd - 1)).toBe(false);
  expect(hasLapsed(story.state as ConversationState, atEnd)).toBe(true);
  story.after(50 * MINUTE).held("delete_all", {});
  expect(hasLapsed(story.state as ConversationState, atEnd)).toBe(false);
  story.after(30 * MINUTE).when({ type: "tick" });
  expect(story.journal.at(-1)).toMatchObject({
    type: "refused",
    refusal: { reason: "approval_expired" },
  });
  expect(hasLapsed(story.state as ConversationState, story.nowMs)).toBe(true);
});
