import { expect, test } from "vitest";
import type { PolicyDocument } from "../../../../services/core/policy/document.ts";
import { nextDeadlineMs } from "../../../../services/core/state/deadline.ts";
import type { ConversationState } from "../../../../services/core/state/state.ts";
import { MINUTE, SECOND, startStory } from "../../../support/decider-spec.ts";

const POLICY: PolicyDocument = {
  authorization: {
    tiers: [{ name: "ask", pattern: "ask", action: "hitl", expires_ms: MINUTE }],
  },
  tool_schemas: {
    ask: {},
    write: { start_within_ms: 10 * SECOND, time_limit_ms: 20 * SECOND },
    slow: {},
  },
};

test("a hold is refused at its end, to the millisecond", () => {
  const story = startStory(POLICY);
  const hold = story.held("ask");
  expect(story.after(MINUTE - 1).ticked()).toEqual([]);
  expect(story.after(1).ticked()).toMatchObject([
    {
      type: "refused",
      decisionId: hold.decisionId,
      approval: { approvalId: hold.holdId },
      refusal: { reason: "approval_expired", disposition: "ask_user" },
    },
  ]);
  expect(story.approved(hold)).toMatchObject({ why: "unknown_approval" });
  story.held("ask");
});

test("a call without a result is of unknown outcome once it could have run its whole time", () => {
  const story = startStory(POLICY);
  const call = story.allowed("write");
  expect(story.after(30 * SECOND - 1).ticked()).toEqual([]);
  expect(story.after(1).ticked()).toEqual([
    {
      type: "outcome_unknown",
      tenantId: "acme",
      conversationId: "c",
      decisionId: call.decisionId,
      callId: call.call.callId,
      tool: "write",
      atMs: story.nowMs,
    },
  ]);
  expect(story.after(MINUTE).ticked()).toEqual([]);
  expect(story.reason("write")).toBe("outcome_unknown");
});

test("due calls come in the order of their deadlines", () => {
  const story = startStory(POLICY);
  const slow = story.allowed("slow");
  const hold = story.after(SECOND).held("ask");
  const write = story.after(SECOND).allowed("write");
  const state = story.state as ConversationState;
  expect(nextDeadlineMs(state)).toBe(story.nowMs + 30 * SECOND);
  const due = story.after(10 * MINUTE).ticked();
  expect(due.map((event) => ("decisionId" in event ? event.decisionId : ""))).toEqual([
    write.decisionId,
    hold.decisionId,
    slow.decisionId,
  ]);
  expect(nextDeadlineMs(story.state as ConversationState)).toBeUndefined();
});

test("a tick of an unknown conversation changes nothing", () => {
  expect(startStory(POLICY).ticked()).toEqual([]);
});
