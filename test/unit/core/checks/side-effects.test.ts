import { describe, expect, test } from "vitest";
import type { CallAllowed } from "../../../../services/core/events.ts";
import type { PolicyDocument } from "../../../../services/core/policy/document.ts";
import { HOUR, MINUTE, startStory } from "../../../support/decider-spec.ts";

const payment = "order/{id}/payment";
const POLICY: PolicyDocument = {
  authorization: { tiers: [{ name: "ask", pattern: "ask_*", action: "hitl" }] },
  tool_schemas: {
    charge_card: { effects: [{ resource: payment, kind: "charge" }] },
    create_invoice: { effects: [{ resource: payment, kind: "create" }] },
    bill: { effects: [{ resource: payment, kind: "charge" }] },
    update_order: { effects: [{ resource: payment, kind: "update" }] },
    make: { effects: [{ resource: "thing/{id}", kind: "create" }] },
    drop: { effects: [{ resource: "thing/{id}", kind: "delete" }] },
    top_up: { effects: [{ resource: "card/{id}", kind: "charge" }], repeatable: true },
    ask_make: { effects: [{ resource: "thing/{id}", kind: "create" }] },
    send: { side_effect_resource: "mail", canonical_fields: ["to"] },
    invite: { side_effect_resource: "invitation", canonical_fields: ["user", "group"] },
    forward: { side_effect_resource: "mail", canonical_fields: ["address"] },
    shared: { effects: [{ resource: "lock/{id}", kind: "create", exclusive: false }] },
  },
};

test("a conflict says whether the earlier call certainly had its effect", () => {
  const effects = [{ resource: "thing/{id}", kind: "create" }] as const;
  const policy: PolicyDocument = { tool_schemas: { make: { effects: [...effects] } } };
  const done = startStory(policy);
  done.done("make", { id: 1 });
  const certain = done.refused("make", { id: 1, note: "again" }).refusal;
  expect(certain.message).toContain("already had this effect on");
  const failed = startStory(policy);
  failed.failed("make", { id: 1 });
  const doubtful = failed.proposed("make", { id: 1, note: "again" });
  expect(JSON.stringify(doubtful)).toContain("failed and may have taken effect on");
});

describe("an exclusive effect conflicts", () => {
  test("with one of equal field values, field by field", () => {
    const story = startStory(POLICY);
    story.done("invite", { user: "7" });
    story.allowed("invite", { group: "7" });
    expect(story.reason("invite", { user: "7", note: "again" })).toBe("duplicate_call");
  });

  test("with one of another tool on the same resource, and the refusal shows the path", () => {
    const story = startStory(POLICY);
    const first = story.done("charge_card", { id: 7 });
    const { refusal, strike } = story.refused("create_invoice", { id: 7 });
    expect(refusal).toMatchObject({
      reason: "side_effect_conflict",
      rule: "tool_schemas.create_invoice.effects[0]",
      disposition: "ask_user",
      conflict: {
        resource: "order/7/payment",
        path: ["charge_card", "order/7/payment", "create_invoice"],
      },
      resolution: { type: "confirmation" },
      previousCall: { callId: first.call.callId, tool: "charge_card", status: "succeeded" },
    });
    expect(refusal.message).toContain(first.call.callId);
    expect(strike?.count).toBe(1);
  });

  test("and the refusal shortens a long resource and quotes it as data", () => {
    const story = startStory(POLICY);
    story.done("charge_card", { id: `7" ${"x".repeat(100_000)}` });
    const { refusal } = story.refused("create_invoice", { id: `7" ${"x".repeat(100_000)}` });
    expect(refusal.message).toContain('on "order/7\\" xxx');
    expect(refusal.message.length).toBeLessThan(2_000);
    expect(refusal.conflict?.resource).toHaveLength(500);
  });

  test("after its own window is over, however long ago", () => {
    const story = startStory(POLICY);
    story.done("charge_card", { id: 7 });
    story.after(20 * HOUR);
    expect(story.reason("charge_card", { id: 7 })).toBe("side_effect_conflict");
  });

  test("under the shorthand, where name and values are the same", () => {
    const story = startStory(POLICY);
    story.done("send", { to: "a@b", text: "1" });
    expect(story.reason("forward", { address: "a@b" })).toBe("side_effect_conflict");
    story.allowed("forward", { address: "c@d" });
  });

  test("while the other call is held, whatever the kinds", () => {
    const story = startStory(POLICY);
    const hold = story.held("ask_make", { id: 1 });
    expect(story.reason("make", { id: 1 })).toBe("side_effect_conflict");
    expect(story.reason("drop", { id: 1 })).toBe("side_effect_conflict");
    story.denied(hold);
    story.allowed("make", { id: 1 });
  });

  test("while the other call is in flight, of unknown outcome, or failed by time-out", () => {
    const story = startStory(POLICY);
    const first = story.allowed("charge_card", { id: 1 });
    expect(story.reason("create_invoice", { id: 1 })).toBe("side_effect_conflict");
    story.reported(first, { status: "unknown" });
    expect(story.reason("create_invoice", { id: 1 })).toBe("side_effect_conflict");
    story.failed("charge_card", { id: 2 }, "503");
    expect(story.reason("create_invoice", { id: 2 })).toBe("side_effect_conflict");
  });
});

test("each of many held calls conflicts, and nothing else does", () => {
  const story = startStory(POLICY);
  for (let id = 1; id <= 12; id += 1) story.held("ask_make", { id });
  for (const id of [1, 7, 12]) expect(story.reason("make", { id })).toBe("side_effect_conflict");
  story.allowed("make", { id: 13 });
});

describe("an exclusive effect does not conflict", () => {
  test("with itself, when a hold is judged again under another rule", () => {
    const story = startStory(POLICY);
    const hold = story.held("ask_make", { id: 1 });
    const tiers = [{ name: "ask", pattern: "ask_*", action: "hitl", expires_ms: HOUR } as const];
    story.under({ ...POLICY, authorization: { tiers } });
    expect(story.approved(hold)).toMatchObject({ type: "held", holdNumber: 2 });
  });

  test("on other resources, if it is not exclusive, or with a read", () => {
    const story = startStory(POLICY);
    story.done("charge_card", { id: 1 });
    story.allowed("charge_card", { id: 2 });
    story.allowed("update_order", { id: 1 });
    story.done("shared", { id: 1 });
    story.after(6 * MINUTE).allowed("shared", { id: 1 });
  });

  test("where a confirmation covers the call", () => {
    const story = startStory(POLICY);
    story.done("charge_card", { id: 1 });
    story.allowed("create_invoice", { id: 1 }, { confirmation: "yes" });
  });

  test("for a create after a delete, or a delete after a create", () => {
    const story = startStory(POLICY);
    story.done("make", { id: 1 });
    story.done("drop", { id: 1 });
    story.done("make", { id: 1 });
    story.done("drop", { id: 1 });
  });

  test("where the earlier call had no effect or did not run", () => {
    const story = startStory(POLICY);
    story.reported(story.allowed("charge_card", { id: 1 }), { status: "failed", effect: "none" });
    story.reported(story.allowed("create_invoice", { id: 1 }), { status: "not_executed" });
    story.allowed("charge_card", { id: 1 });
  });

  test("for a retry of the same call after a time-out", () => {
    const story = startStory(POLICY);
    story.failed("charge_card", { id: 1 }, "503");
    story.allowed("charge_card", { id: 1 });
  });

  test("for the same call of a repeatable tool", () => {
    const story = startStory(POLICY);
    story.done("top_up", { id: 1 });
    story.allowed("top_up", { id: 1 });
  });

  test("with a failed one, once a call that undoes it has begun", () => {
    const story = startStory({
      tool_schemas: {
        make: { effects: [{ resource: "thing/{id}", kind: "create", on_failure: "conflict" }] },
        drop: { effects: [{ resource: "thing/{id}", kind: "delete" }] },
      },
    });
    story.failed("make", { id: 1 });
    story.allowed("drop", { id: 1 });
    story.allowed("make", { id: 1, note: "again" });
  });
});

describe("a call without an effect gives its resource back", () => {
  test("so that a failed delete does not undo a create", () => {
    const story = startStory(POLICY);
    story.done("make", { id: 1 });
    story.failed("drop", { id: 1 });
    expect(story.after(HOUR).reason("make", { id: 1 })).toBe("side_effect_conflict");
  });

  test("so that a confirmed second charge that did not happen leaves the first", () => {
    const story = startStory(POLICY);
    story.done("charge_card", { id: 1 });
    const again = story.allowed("charge_card", { id: 1 }, { confirmation: "yes" });
    story.reported(again, { status: "not_executed" });
    expect(story.reason("create_invoice", { id: 1 })).toBe("side_effect_conflict");
  });

  test.each([
    ["the later first", 1, 0],
    ["the earlier first", 0, 1],
  ])("in whatever order results come: %s", (_name, first, second) => {
    const story = startStory(POLICY);
    const calls = [
      story.allowed("charge_card", { id: 1 }),
      story.allowed("create_invoice", { id: 1 }, { confirmation: "yes" }),
    ];
    const failed = { status: "failed", effect: "none" } as const;
    story.reported(calls[first] as CallAllowed, failed);
    expect(story.reason("bill", { id: 1 })).toBe("side_effect_conflict");
    story.reported(calls[second] as CallAllowed, failed);
    story.allowed("bill", { id: 1 });
  });
});

test("a redelivery gets the decision of its own first run, however late it comes", () => {
  const story = startStory(POLICY);
  const proposal = story.proposal("make", { id: 1 });
  const [first] = story.when(proposal);
  story.reported(first as never, { output: "made" });
  story.after(2 * HOUR);
  expect(story.when(proposal)).toMatchObject([{ type: "repeated", decision: first }]);
});
