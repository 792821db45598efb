import { describe, expect, test } from "vitest";
import type { PolicyDocument, PolicyTier } from "../../../../services/core/policy/document.ts";
import { HOUR, MINUTE, ofType, startStory } from "../../../support/decider-spec.ts";

const ASK: PolicyTier = {
  name: "ask",
  pattern: "ask*|make",
  action: "hitl",
  expires_ms: 10 * MINUTE,
};
const POLICY: PolicyDocument = {
  authorization: { tiers: [ASK] },
  tool_schemas: {
    ask: {},
    ask_why: {},
    make: { effects: [{ resource: "thing/{id}", kind: "create" }] },
    create: { effects: [{ resource: "thing/{id}", kind: "create" }] },
    write: {},
  },
};

describe("an approval", () => {
  test("lets the call run, from its own time on, under the same decision", () => {
    const story = startStory(POLICY);
    const hold = story.held("ask", { id: 1 });
    const call = ofType(story.after(5 * MINUTE).approved(hold, { reason: "fine" }), "allowed");
    expect(call).toMatchObject({
      decisionId: hold.decisionId,
      approval: { approvalId: hold.holdId, approvedBy: ["boss"] },
      arguments: { text: '{"id":1}' },
      times: { atMs: story.nowMs, proposalsAtMs: hold.times.atMs },
      notAfterMs: story.nowMs + MINUTE,
      execution: { decisionId: hold.decisionId, attempt: 1 },
      conversation: { entersTurn: false },
    });
  });

  test("makes the call intended: a repeat within its window runs as a new execution", () => {
    const story = startStory(POLICY);
    story.reported(ofType(story.approved(story.held("ask")), "allowed"), { output: "once" });
    story.after(6 * MINUTE);
    const again = ofType(story.approved(story.held("ask")), "allowed");
    expect(again.execution.decisionId).toBe(again.decisionId);
  });

  test("does not run a call that a change since then refuses, and ends its hold", () => {
    const story = startStory({ ...POLICY, checks: { side_effect_conflict: "enforce" } });
    const hold = story.held("make", { id: 1 });
    story.turn("2").allowed("create", { id: 1 }, { confirmation: "yes" });
    expect(story.approved(hold).type).toBe("allowed");
    const other = story.held("ask", { n: 1 });
    story.under({ ...POLICY, budgets: { max_tool_calls: 1 } });
    expect(story.approved(other)).toMatchObject({
      type: "refused",
      refusal: { reason: "budget_calls" },
      approval: { approvalId: other.holdId },
    });
    expect(story.approved(other)).toMatchObject({ why: "unknown_approval" });
  });

  test("is void where the rule changed: the call is held again, under another id each time", () => {
    const story = startStory(POLICY);
    const first = story.held("ask");
    const changed = { ...POLICY, authorization: { tiers: [{ ...ASK, expires_ms: HOUR }] } };
    const second = ofType(story.under(changed).approved(first), "held");
    expect(second).toMatchObject({ holdNumber: 2, approval: { approvalId: first.holdId } });
    const third = ofType(story.under(POLICY).approved(second), "held");
    const fourth = ofType(story.under(changed).approved(third), "held");
    const ids = [first, second, third, fourth].map(({ holdId }) => holdId);
    expect(new Set(ids).size).toBe(4);
    expect(story.approved(second)).toMatchObject({ why: "unknown_approval" });
    expect(story.approved(fourth)).toMatchObject({ type: "allowed" });
  });

  test("still applies where the call came again hours later: it is the same hold", () => {
    const tiers: PolicyTier[] = [{ ...ASK, action: "hitl", expires_ms: 5 * HOUR }];
    const story = startStory({ ...POLICY, authorization: { tiers } });
    const name = { step: "1", callId: "once" };
    const hold = story.held("ask", {}, name);
    expect(story.after(2 * HOUR).when(story.proposal("ask", {}, name))).toMatchObject([
      { type: "repeated", decision: { type: "held", holdId: hold.holdId } },
    ]);
    expect(story.state?.totals.calls).toBe(1);
    expect(story.state?.openIndex.heldCount).toBe(1);
    expect(story.approved(hold)).toMatchObject({ type: "allowed" });
    expect(story.state?.openIndex.heldCount).toBe(0);
    expect(story.state?.heldTime.sinceMs).toBeNull();
  });

  test("is void where the rule no longer asks: the call is judged as any other", () => {
    const story = startStory(POLICY);
    const hold = story.held("ask");
    const free = { ...POLICY, authorization: { tiers: [] } };
    expect(story.under(free).approved(hold)).toMatchObject({ type: "allowed" });
  });

  test("does not count from the agent itself", () => {
    const story = startStory(POLICY);
    const hold = story.held("ask");
    expect(story.approved(hold, { by: "agent" })).toMatchObject({
      type: "ignored",
      input: "approve",
      why: "self_approval",
      id: hold.holdId,
    });
    expect(story.approved(hold).type).toBe("allowed");
  });

  test.each(["Agent", " agent ", "\uff21gent", "ag\u200bent"])(
    "does not count from the agent under another spelling of its name: %j",
    (by) => {
      const story = startStory(POLICY);
      expect(story.approved(story.held("ask"), { by })).toMatchObject({ why: "self_approval" });
    },
  );

  test("by one person counts once, however the name is written", () => {
    const tiers: PolicyTier[] = [{ ...ASK, action: "hitl", approvals: 2 }];
    const story = startStory({ ...POLICY, authorization: { tiers } });
    const hold = story.held("ask");
    expect(story.approved(hold, { by: "Ann Lee" }).type).toBe("ruled");
    for (const by of ["Ann Lee ", "ann lee", "Ann  Lee", "ANN\u00a0LEE"]) {
      expect(story.approved(hold, { by })).toMatchObject({ why: "already_decided" });
    }
    expect(story.approved(hold, { by: "ben" })).toMatchObject({
      type: "allowed",
      approval: { approvedBy: ["Ann Lee", "ben"] },
    });
  });

  test("needs a reason where the tier requires one", () => {
    const tiers: PolicyTier[] = [{ ...ASK, action: "hitl", require_reason: true }];
    const story = startStory({ ...POLICY, authorization: { tiers } });
    const hold = story.held("ask");
    expect(hold.requireReason).toBe(true);
    for (const reason of [null, "", "  "]) {
      expect(story.approved(hold, { reason })).toMatchObject({ why: "reason_required" });
    }
    expect(story.approved(hold, { reason: "asked for" }).type).toBe("allowed");
  });

  test("can be used once", () => {
    const story = startStory(POLICY);
    const hold = story.held("ask");
    story.approved(hold);
    expect(story.approved(hold)).toMatchObject({ why: "unknown_approval" });
    expect(story.denied(hold)).toMatchObject({ why: "unknown_approval" });
  });
});

describe("a denial", () => {
  test("refuses the call with its reason, quoted as data", () => {
    const story = startStory(POLICY);
    const hold = story.held("ask");
    const refused = ofType(story.denied(hold, { reason: 'no "way"' }), "refused");
    expect(refused).toMatchObject({
      decisionId: hold.decisionId,
      approval: { approvedBy: ["boss"] },
      refusal: {
        reason: "approval_denied",
        disposition: "change_approach",
        resolution: { type: "none", approvalId: hold.holdId },
      },
      strike: null,
    });
    expect(refused.refusal.message).toContain('"no \\"way\\""');
    const other = story.turn("2").held("ask");
    expect(ofType(story.denied(other), "refused").refusal.message).not.toContain("Reason given");
  });
});

describe("a reconciliation", () => {
  test("settles a call of unknown outcome", () => {
    const story = startStory(POLICY);
    const call = story.allowed("write");
    expect(story.reconciled(call, "succeeded")).toMatchObject({ why: "not_unknown" });
    story.reported(call, { status: "unknown" });
    expect(story.reconciled(call, null)).toMatchObject({ why: "unknown_call" });
    expect(story.reconciled(call, "succeeded")).toMatchObject({
      type: "reconciled",
      outcome: "succeeded",
      by: "boss",
      tool: "write",
    });
    expect(story.reason("write")).toBe("duplicate_call");
    expect(story.reconciled(call, "failed")).toMatchObject({ why: "unknown_call" });
  });

  test.each(["failed", "not_executed"] as const)("as %s lets the call run again", (outcome) => {
    const story = startStory(POLICY);
    const call = story.allowed("write");
    story.reported(call, { status: "unknown" });
    story.reconciled(call, outcome);
    const again = story.allowed("write");
    expect(again.execution.attempt).toBe(outcome === "failed" ? 1 : 2);
  });
});

describe("a verdict is ignored", () => {
  test.each(["grant", "revoke", "resume", "end"] as const)("of kind %s before any call", (kind) => {
    expect(startStory(POLICY).said({ kind, approvalId: "a" })).toEqual({
      type: "ignored",
      tenantId: "acme",
      conversationId: "c",
      input: kind,
      why: "unknown_conversation",
      id: "a",
    });
  });

  test("that names nothing that exists", () => {
    const story = startStory(POLICY);
    expect(story.said({ kind: "approve", approvalId: "none" })).toMatchObject({
      why: "unknown_approval",
    });
    expect(story.said({ kind: "reconcile", decisionId: "none" })).toMatchObject({
      why: "unknown_call",
    });
    story.allowed("write");
    expect(story.said({ kind: "approve" })).toMatchObject({ why: "unknown_approval" });
    expect(story.said({ kind: "deny", approvalId: "none" })).toMatchObject({
      why: "unknown_approval",
    });
  });
});

describe("a verdict that names its subject", () => {
  const OTHERS = [
    ["callId", "wrong_call"],
    ["actionKey", "wrong_action"],
    ["ruleDigest", "wrong_rule"],
  ] as const;
  const NOTHING = { callId: null, actionKey: null, ruleDigest: null };

  test.each(OTHERS)("changes nothing where it names another %s: %s", (member, why) => {
    const story = startStory(POLICY);
    const hold = story.held("ask", { id: 1 });
    const { ruleDigest } = hold;
    const own = { callId: hold.call.callId, actionKey: hold.arguments.actionKey, ruleDigest };
    const about = { ...NOTHING, [member]: "another" };
    for (const kind of ["approve", "deny", "cancel"] as const) {
      const said = { kind, approvalId: hold.holdId, about } as const;
      expect(story.said(said)).toMatchObject({
        type: "ignored",
        input: kind,
        why,
        id: hold.holdId,
      });
    }
    ofType(story.approved(hold, { about: { ...NOTHING, [member]: own[member] } }), "allowed");
  });

  test("applies only where everything that it names matches", () => {
    const story = startStory(POLICY);
    const {
      call: { callId },
      arguments: { actionKey },
      ruleDigest,
    } = story.held("ask", { id: 1 });
    const other = story.held("ask", { id: 2 });
    expect(story.approved(other, { about: { callId, actionKey, ruleDigest } })).toMatchObject({
      why: "wrong_call",
    });
    const about = { callId: null, actionKey, ruleDigest };
    expect(story.approved(other, { about })).toMatchObject({ why: "wrong_action" });
    ofType(story.approved(other, { about: { ...NOTHING, ruleDigest } }), "allowed");
  });

  test("does not end a hold that is already over", () => {
    const story = startStory(POLICY);
    const hold = story.held("ask");
    story.after(HOUR);
    const about = { ...NOTHING, callId: "another" };
    expect(story.approved(hold, { about })).toMatchObject({ why: "wrong_call" });
    expect(ofType(story.approved(hold), "refused").refusal.reason).toBe("approval_expired");
  });
});
