import { expect, test } from "vitest";
import { MINUTE, ofType, startStory } from "../../../support/decider-spec.ts";

const HELD = {
  authorization: {
    tiers: [{ name: "ask", pattern: "delete_*", action: "hitl", expires_ms: MINUTE }],
  },
} as const;

test("an approval at the end of its hold is too late, even if no tick has come", () => {
  const early = startStory(HELD);
  expect(early.approved(early.after(0).held("delete_a")).type).toBe("allowed");
  const last = startStory(HELD);
  const held = last.held("delete_a");
  expect(last.after(MINUTE - 1).approved(held).type).toBe("allowed");
  const late = startStory(HELD);
  const hold = late.held("delete_a");
  const { refusal } = ofType(late.after(MINUTE).approved(hold), "refused");
  expect(refusal.reason).toBe("approval_expired");
});
