import { describe, expect, test } from "vitest";
import type { PolicyDocument, PolicyTier } from "../../../../services/core/policy/document.ts";
import { ofType, SECOND, startStory } from "../../../support/decider-spec.ts";

const HITL: PolicyTier = { name: "ask", pattern: "drop_*", action: "hitl", approvals: 2 };
const MANUAL_GRANT: PolicyTier = {
  name: "given",
  pattern: "make_*",
  action: "per_conversation_grant",
  ceiling: 3,
  granted_by: "verdict",
};
const FEW: PolicyTier = {
  name: "few",
  pattern: "set_*",
  action: "per_conversation_grant",
  ceiling: 1,
};

function tiers(...list: readonly PolicyTier[]): PolicyDocument {
  return { authorization: { tiers: list } };
}

const POLICY = tiers(HITL, MANUAL_GRANT, FEW);

describe("approval by several people", () => {
  test("runs the call once as many people as required have approved, and names them", () => {
    const story = startStory(POLICY);
    const hold = story.held("drop_a");
    expect(story.approved(hold, { by: "ann" })).toMatchObject({ type: "ruled", kind: "approve" });
    expect(story.approved(hold, { by: "ann" })).toMatchObject({ why: "already_decided" });
    const allowed = ofType(story.approved(hold, { by: "ben" }), "allowed");
    expect(allowed.approval.approvedBy).toEqual(["ann", "ben"]);
  });

  test("ends with the first denial", () => {
    const story = startStory(POLICY);
    const hold = story.held("drop_a");
    story.approved(hold, { by: "ann" });
    expect(ofType(story.denied(hold), "refused").refusal.reason).toBe("approval_denied");
    expect(story.approved(hold, { by: "ben" })).toMatchObject({ why: "unknown_approval" });
  });

  test("is void where the rule has changed: the call is held again under another id", () => {
    const story = startStory(POLICY);
    const hold = story.held("drop_a");
    story.approved(hold, { by: "ann" });
    story.under(tiers({ ...HITL, approvals: 3 }, MANUAL_GRANT, FEW));
    const anew = ofType(story.approved(hold, { by: "ben" }), "held");
    expect(anew.holdId).not.toBe(hold.holdId);
    expect(story.approved(anew, { by: "ann" })).toMatchObject({ type: "ruled" });
  });

  test("is part of a snapshot", () => {
    const story = startStory(POLICY);
    const hold = story.held("drop_a");
    story.approved(hold, { by: "ann" });
    expect([...(story.state?.open.size ? [hold.approvals] : [])]).toEqual([2]);
    ofType(story.approved(hold, { by: "ben" }), "allowed");
  });

  test("does not count from the agent that asks", () => {
    const story = startStory(POLICY);
    const hold = story.held("drop_a");
    expect(story.approved(hold, { by: "agent" })).toMatchObject({ why: "self_approval" });
  });
});

describe("where several people must approve", () => {
  const ON_EXCEEDED: PolicyTier = { ...FEW, on_exceeded: "hitl" };

  test("no approver grants further calls, and the call still waits", () => {
    const story = startStory(POLICY);
    const hold = story.held("drop_a");
    const more = { tool: "drop_a", calls: 5 };
    expect(story.approved(hold, { by: "ann", ...more })).toMatchObject({
      why: "approvals_required",
    });
    story.approved(hold, { by: "ann" });
    expect(story.approved(hold, { by: "ben", ...more })).toMatchObject({
      why: "approvals_required",
    });
    ofType(story.approved(hold, { by: "ben" }), "allowed");
    story.held("drop_a", { n: 2 });
  });

  test.each([{ tool: "drop_a" }, { tier: "ask" }])("nobody grants calls of %j alone", (what) => {
    const story = startStory(POLICY);
    story.reason("make_a");
    expect(story.said({ kind: "grant", ...what })).toMatchObject({ why: "approvals_required" });
    story.held("drop_a");
  });

  test("a grant from a time when one person sufficed no longer counts", () => {
    const story = startStory(tiers({ ...HITL, approvals: 1 }));
    story.reason("make_a");
    story.said({ kind: "grant", tool: "drop_a", calls: 9 });
    story.said({ kind: "grant", tier: "ask", calls: 9 });
    story.allowed("drop_a", { n: 1 });
    story.under(POLICY).held("drop_a", { n: 2 });
  });

  test("nobody alone can exceed the ceiling that several people guard", () => {
    const story = startStory(tiers(HITL, ON_EXCEEDED));
    story.allowed("set_a", { n: 1 });
    expect(story.said({ kind: "grant", tier: "few" })).toMatchObject({
      why: "approvals_required",
    });
    story.held("set_a", { n: 2 });
  });

  test("a tier that verdicts grant still needs only one person", () => {
    const story = startStory(tiers(HITL, { ...MANUAL_GRANT, on_exceeded: "hitl" }));
    story.held("make_a", { n: 1 });
    expect(story.said({ kind: "grant", tier: "given" })).toMatchObject({ type: "ruled" });
    story.allowed("make_a", { n: 2 });
  });

  test("one person may revoke calls", () => {
    const story = startStory(POLICY);
    story.reason("make_a");
    expect(story.said({ kind: "revoke", tier: "ask" })).toMatchObject({ type: "ruled" });
  });
});

describe("a grant of a tier that requires a reason", () => {
  test.each([null, " "])("needs one, and %j is none", (reason) => {
    const story = startStory(tiers({ ...HITL, approvals: 1, require_reason: true }));
    story.reason("make_a");
    const grant = { kind: "grant", tool: "drop_a" } as const;
    expect(story.said({ ...grant, reason })).toMatchObject({ why: "reason_required" });
    story.held("drop_a", { n: 1 });
    expect(story.said({ ...grant, reason: "clean-up" })).toMatchObject({ type: "ruled" });
    story.allowed("drop_a", { n: 2 });
  });
});

describe("a manual grant", () => {
  const ASKS: PolicyTier = { ...HITL, approvals: 1 };

  test("is of no use to the agent that granted it to itself", () => {
    const story = startStory(tiers(ASKS, MANUAL_GRANT));
    story.reason("make_a");
    for (const tier of ["ask", "given"])
      story.said({ kind: "grant", tier, calls: 9, by: " Agent" });
    story.held("drop_a");
    expect(story.reason("make_a", { n: 1 })).toBe("grant_exceeded");
    story.said({ kind: "grant", tier: "given", calls: 9, by: "ann" });
    story.allowed("make_a", { n: 2 });
  });

  test("is of no use without a reason once the tier requires one", () => {
    const story = startStory(tiers(ASKS));
    story.reason("make_a");
    story.said({ kind: "grant", tier: "ask", calls: 9 });
    story.allowed("drop_a", { n: 1 });
    const asks = { ...ASKS, require_reason: true };
    story.under(tiers(asks)).held("drop_a", { n: 2 });
    story.said({ kind: "grant", tier: "ask", calls: 9, reason: "clean-up" });
    story.allowed("drop_a", { n: 3 });
  });

  test("can be revoked while the policy has no such tier", () => {
    const story = startStory(tiers(ASKS));
    story.reason("make_a");
    story.said({ kind: "grant", tier: "ask", calls: 9 });
    story.under(tiers(MANUAL_GRANT));
    expect(story.said({ kind: "grant", tier: "ask" })).toMatchObject({ why: "unknown_grant" });
    expect(story.said({ kind: "revoke", tier: "ask" })).toMatchObject({ type: "ruled" });
    expect(story.said({ kind: "revoke", tier: "other" })).toMatchObject({ why: "unknown_grant" });
    expect(story.said({ kind: "revoke", tool: "drop_b" })).toMatchObject({ why: "unknown_grant" });
    story.under(tiers(ASKS)).held("drop_a");
  });

  test("is revoked whatever number or time the revocation carries", () => {
    const story = startStory(tiers(ASKS));
    story.reason("make_a");
    story.said({ kind: "grant", tier: "ask", calls: 9 });
    expect(story.said({ kind: "revoke", tier: "ask", calls: 0, untilMs: 1 })).toMatchObject({
      type: "ruled",
    });
    story.held("drop_a");
  });
});

describe("a grant by verdict", () => {
  test("is needed where the tier starts with no calls", () => {
    const story = startStory(POLICY);
    expect(story.refused("make_a").refusal).toMatchObject({
      reason: "grant_exceeded",
      rule: "authorization.tiers[1].granted_by",
    });
    story.said({ kind: "grant", tier: "given", calls: 1 });
    story.allowed("make_a", { n: 1 });
    expect(story.reason("make_a", { n: 2 })).toBe("grant_exceeded");
  });

  test("ends at its time", () => {
    const story = startStory(POLICY);
    story.reason("make_a");
    story.said({ kind: "grant", tier: "given", calls: 5, untilMs: story.nowMs + SECOND });
    story.after(SECOND - 1).allowed("make_a", { n: 1 });
    expect(story.after(1).reason("make_a", { n: 2 })).toBe("grant_exceeded");
  });

  test("needs a time in the future", () => {
    const story = startStory(POLICY);
    story.reason("make_a");
    const grant = (untilMs: number) => story.said({ kind: "grant", tier: "given", untilMs });
    expect(grant(story.nowMs)).toMatchObject({ why: "unknown_grant" });
    expect(grant(story.nowMs + 1)).toMatchObject({ type: "ruled" });
  });

  test("is not used up by a call that a person approved by itself", () => {
    const story = startStory(tiers({ ...HITL, approvals: 1 }));
    const hold = story.held("drop_a", { n: 1 });
    story.said({ kind: "grant", tier: "ask", calls: 1 });
    ofType(story.approved(hold), "allowed");
    story.allowed("drop_a", { n: 2 });
    story.held("drop_a", { n: 3 });
  });

  test("for a tier does not cover a tool without a tier of that name", () => {
    const unnamed: PolicyTier = { ...MANUAL_GRANT, name: "null" };
    const story = startStory({ ...tiers(unnamed), tool_schemas: { ask: { risk_level: "HIGH" } } });
    story.reason("make_a");
    story.said({ kind: "grant", tier: "null", calls: 9 });
    story.held("ask");
  });

  test("for a tool comes only with the approval of a call of that tool", () => {
    const story = startStory(tiers({ ...HITL, approvals: 1 }));
    const hold = story.held("drop_a");
    expect(story.approved(hold, { tool: "drop_b" })).toMatchObject({ why: "unknown_grant" });
  });

  test("does not come with an approval whose call is refused in the end", () => {
    const asks = tiers({ ...HITL, approvals: 1 });
    const story = startStory(asks);
    const hold = story.held("drop_a");
    story.under({ ...asks, kill: { tools: ["drop_a"] } });
    const refused = ofType(story.approved(hold, { tool: "drop_a" }), "refused");
    expect(refused.refusal.reason).toBe("killed");
  });

  test("does not come with the approval of another rule, even if the call runs under the present one", () => {
    const asks = tiers({ ...HITL, approvals: 1 });
    const story = startStory(asks);
    const hold = story.held("drop_a", { n: 1 });
    story.under(tiers({ name: "free", pattern: "drop_*", action: "allowlist" }));
    ofType(story.approved(hold, { tool: "drop_a", calls: 5 }), "allowed");
    story.under(asks);
    story.held("drop_a", { n: 2 });
  });

  test("adds to the calls that the policy grants, and a revocation takes both", () => {
    const story = startStory(POLICY);
    story.allowed("set_a", { n: 1 });
    story.said({ kind: "grant", tier: "few", calls: 1 });
    story.allowed("set_a", { n: 2 });
    expect(story.reason("set_a", { n: 3 })).toBe("grant_exceeded");
    const other = startStory(POLICY);
    other.reason("make_a");
    other.said({ kind: "revoke", tier: "few" });
    expect(other.reason("set_a")).toBe("grant_exceeded");
  });

  test("for a tool is revoked by the tool's name, whatever policy and verdicts grant its tier", () => {
    const story = startStory(POLICY);
    story.allowed("set_a", { n: 1 });
    const fresh = startStory({ ...tiers({ ...FEW, ceiling: 9 }) });
    fresh.allowed("set_a", { n: 1 });
    fresh.said({ kind: "revoke", tool: "set_a" });
    expect(fresh.refused("set_a", { n: 2 }).refusal).toMatchObject({
      reason: "grant_exceeded",
      message: expect.stringContaining("Calls of `set_a` were revoked."),
    });
    fresh.allowed("set_b", { n: 1 });
    story.reason("make_a");
    story.said({ kind: "grant", tier: "given", calls: 9 });
    story.said({ kind: "revoke", tool: "make_a" });
    expect(story.reason("make_a", { n: 1 })).toBe("grant_exceeded");
    story.allowed("make_b", { n: 1 });
    story.said({ kind: "grant", tool: "make_a", calls: 1 });
    story.allowed("make_a", { n: 2 });
    expect(story.reason("make_a", { n: 3 })).toBe("grant_exceeded");
  });

  test.each([
    ["tier", { tier: "few" }],
    ["tool", { tool: "set_a" }],
  ])("for a %s that was revoked gives its own calls, and none of the policy's", (_, what) => {
    const story = startStory(tiers({ ...FEW, ceiling: 9 }));
    story.allowed("set_a", { n: 1 });
    story.said({ kind: "revoke", ...what });
    story.said({ kind: "grant", ...what, calls: 1, untilMs: story.nowMs + 60_000 });
    story.after(60_000);
    expect(story.reason("set_a", { n: 2 })).toBe("grant_exceeded");
    story.said({ kind: "grant", ...what, calls: 2 });
    story.allowed("set_a", { n: 3 });
    const unused = story.allowed("set_a", { n: 4 });
    expect(story.reason("set_a", { n: 5 })).toBe("grant_exceeded");
    // A call that did not run is given back.
    story.reported(unused, { status: "not_executed" });
    story.allowed("set_a", { n: 6 });
    expect(story.reason("set_a", { n: 7 })).toBe("grant_exceeded");
  });

  test("that has no effect is reported beside the approved call", () => {
    const story = startStory(tiers({ ...HITL, approvals: 1 }));
    const hold = story.held("drop_a", { n: 1 });
    const events = story.when({
      ...{ type: "verdict", kind: "approve", tenantId: "acme", conversationId: "c" },
      ...{ approvalId: hold.holdId, decisionId: null, outcome: null, tier: null },
      ...{ tool: "drop_a", calls: 1, untilMs: story.nowMs, by: "ben", reason: null },
    });
    expect(events).toMatchObject([{ type: "allowed" }, { type: "ignored", why: "unknown_grant" }]);
    story.held("drop_a", { n: 2 });
  });

  test("for a tool lets that many calls of that tool through without asking again", () => {
    const story = startStory(tiers({ ...HITL, approvals: 1 }));
    const hold = story.held("drop_a", { n: 1 });
    const events = story.when({
      type: "verdict",
      kind: "approve",
      tenantId: "acme",
      conversationId: "c",
      approvalId: hold.holdId,
      decisionId: null,
      outcome: null,
      tier: null,
      tool: "drop_a",
      calls: 1,
      untilMs: null,
      by: "ben",
      reason: null,
    });
    expect(events.map(({ type }) => type)).toEqual(["allowed", "ruled"]);
    story.allowed("drop_a", { n: 2 });
    story.held("drop_a", { n: 3 });
    story.held("drop_b", { n: 1 });
  });

  test.each([
    ["a tier that the policy has not", { tier: "other" }],
    ["neither tier nor tool", {}],
    ["a tool that nothing names", { tool: "unheard_of" }],
    ["both", { tier: "few", tool: "set_a" }],
    ["no calls", { tier: "few", calls: 0 }],
    ["a time that is over", { tier: "few", untilMs: 1 }],
  ])("of %s grants nothing", (_what, what) => {
    const story = startStory(POLICY);
    story.reason("make_a");
    expect(story.said({ kind: "grant", ...what })).toMatchObject({ why: "unknown_grant" });
  });
});

describe("a verdict on the conversation", () => {
  const LADDER: PolicyDocument = {
    escalation: { user_input: 1, end: { at: "off", lasts: "turn" } },
    tool_schemas: { write: {}, other: {} },
  };

  test("`end` refuses everything, held calls too, until `resume`", () => {
    const story = startStory({ ...LADDER, ...tiers({ ...HITL, approvals: 1 }) });
    const hold = story.held("drop_a");
    expect(story.said({ kind: "end", reason: "enough" })).toMatchObject({ type: "ruled" });
    expect(story.turn("2").reason("write")).toBe("conversation_ended");
    expect(ofType(story.approved(hold), "refused").refusal.reason).toBe("conversation_ended");
    story.said({ kind: "resume" });
    story.allowed("write");
  });

  test("`resume` lifts what the escalation switched on, and clears its strikes", () => {
    const story = startStory(LADDER);
    story.done("write");
    expect(story.refused("write").raised?.userInput).toBe(true);
    expect(story.reason("other")).toBe("user_input_required");
    story.said({ kind: "resume" });
    story.allowed("other");
    expect(story.state?.strikes).toEqual([]);
  });

  test("`cancel` ends a hold", () => {
    const story = startStory(POLICY);
    const hold = story.held("drop_a");
    const { refusal } = ofType(story.said({ kind: "cancel", approvalId: hold.holdId }), "refused");
    expect(refusal.reason).toBe("approval_denied");
    expect(refusal.message).toMatch(/It was cancelled\./);
  });
});
