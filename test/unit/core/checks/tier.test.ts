import { describe, expect, test } from "vitest";
import type { PolicyDocument } from "../../../../services/core/policy/document.ts";
import { MINUTE, ofType, SECOND, startStory } from "../../../support/decider-spec.ts";

const POLICY: PolicyDocument = {
  authorization: {
    tiers: [
      {
        name: "reads",
        pattern: "get_*",
        action: "allowlist",
        rate_limit: { count: 2, windowMs: MINUTE },
      },
      { name: "open", pattern: "list_*", action: "allowlist" },
      {
        name: "few",
        pattern: "create_*",
        action: "per_conversation_grant",
        ceiling: 2,
        ttl_ms: 10 * MINUTE,
      },
      {
        name: "ask_more",
        pattern: "update_*",
        action: "per_conversation_grant",
        ceiling: 1,
        on_exceeded: "hitl",
      },
      { name: "ask", pattern: "delete_*", action: "hitl", expires_ms: 5 * MINUTE },
      { name: "never", pattern: "purge_*", action: "deny" },
    ],
  },
  tool_schemas: { delete_thing: {}, remove: { suggest: ["purge_all", "list_things", "nothing"] } },
};

describe("deny", () => {
  test("refuses a call of the tool under any namespace", () => {
    const story = startStory(POLICY);
    for (const tool of ["purge_all", "github/purge_all", "github.purge_all"]) {
      expect(story.refused(tool).refusal).toMatchObject({
        reason: "tier_denied",
        rule: "authorization.tiers[5]",
        disposition: "change_approach",
      });
    }
    expect(story.reason("github/list_all")).toBe("unknown_tool");
  });

  test("keeps the tool out of suggestions", () => {
    const story = startStory(POLICY);
    story.done("remove");
    expect(story.refused("remove").refusal.suggestedNext).toEqual(["list_things"]);
  });
});

describe("allowlist", () => {
  test("lets calls through where a later revision of the policy has no rate", () => {
    const story = startStory(POLICY);
    for (const n of [1, 2]) story.done("get_a", { n });
    const reads = { name: "reads", pattern: "get_*", action: "allowlist" } as const;
    story.under({ authorization: { tiers: [reads] } }).allowed("get_a", { n: 3 });
  });

  test("refuses the call over its rate, in a sliding window over allowed calls", () => {
    const story = startStory(POLICY);
    story.done("get_a");
    story.reason("get_a");
    story.after(20 * SECOND).done("get_b");
    const {
      refusal,
      policy: { tier },
    } = story.refused("get_c");
    expect(refusal).toMatchObject({
      reason: "rate_limited",
      rule: "authorization.tiers[0].rate_limit",
      resolution: { type: "retry_after", retryAfterMs: 40 * SECOND },
    });
    expect(tier).toBe("reads");
    story.after(40 * SECOND).allowed("get_c");
  });

  test("lets every call through where it has no rate", () => {
    const story = startStory(POLICY);
    for (let n = 0; n < 50; n += 1) story.done("list_a", { n }, `list ${n}`);
  });
});

describe("a grant", () => {
  test("is used up by as many allowed calls as its ceiling", () => {
    const story = startStory(POLICY);
    story.done("create_a");
    story.reason("create_a");
    story.done("create_b");
    expect(story.refused("create_c").refusal).toMatchObject({
      reason: "grant_exceeded",
      rule: "authorization.tiers[2].ceiling",
      disposition: "ask_user",
    });
  });

  test("ends after its time to live, counted from the conversation's first proposal", () => {
    const story = startStory(POLICY);
    story.done("list_a");
    story.after(10 * MINUTE - 1).done("create_a");
    expect(story.after(1).refused("create_b").refusal.rule).toBe("authorization.tiers[2].ttl_ms");
  });

  test("allows calls above its ceiling with an approval", () => {
    const story = startStory(POLICY);
    story.done("update_a");
    const hold = story.held("update_b");
    expect(hold).toMatchObject({
      rule: "authorization.tiers[3]",
      approvals: 1,
      policy: { tier: "ask_more" },
    });
    expect(hold.message).toContain("used up");
    ofType(story.approved(hold), "allowed");
  });
});

describe("hitl", () => {
  test("holds the call until the hold expires", () => {
    const story = startStory(POLICY);
    expect(story.held("delete_thing", { id: 1 })).toMatchObject({
      expiresAtMs: story.nowMs + 5 * MINUTE,
      holdNumber: 1,
      requireReason: false,
      policy: { tier: "ask" },
    });
  });

  test("never asks a person about a call that another check refuses", () => {
    const story = startStory(POLICY);
    const hold = story.held("delete_thing");
    story.reported(ofType(story.approved(hold), "allowed"), { output: "gone" });
    expect(story.reason("delete_thing")).toBe("duplicate_call");
  });

  test("allows with a note in mode warn, and without one in mode shadow", () => {
    const warn = startStory({ ...POLICY, checks: { approval_required: "warn" } });
    expect(warn.allowed("delete_thing").notices.warnings).toMatchObject([
      { reason: "approval_required" },
    ]);
    const shadow = startStory({ ...POLICY, mode: "shadow" });
    expect(shadow.allowed("delete_thing").notices.shadow).toMatchObject([
      { reason: "approval_required" },
    ]);
  });
});
