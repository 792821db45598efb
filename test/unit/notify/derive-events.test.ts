// Events of the real core.
import { describe, expect, test } from "vitest";
import type { GateEvent } from "../../../services/core/events.ts";
import { cloudEventOf } from "../../../services/notify/cloud-event.ts";
import { alertEvent, deriveEvents } from "../../../services/notify/derive-events.ts";
import type { NotifyEvent } from "../../../services/notify/notify-event.ts";
import type { Alert } from "../../../services/wire/output-records.ts";
import { sealingOf } from "../../support/core/compile.ts";
import { MINUTE, type Story, startStory } from "../../support/decider-spec.ts";
import { SAMPLE_EVENTS } from "../../support/wire/samples.ts";

const POLICY = {
  authorization: {
    tiers: [{ name: "removals", pattern: "remove_*", action: "hitl", expires_ms: 5 * MINUTE }],
  },
  tool_schemas: {
    remove_item: { effects: [{ resource: "item/{item}", kind: "delete" }] },
    look: {},
  },
} as const;

function wordsOf({ journal }: Story): readonly string[] {
  return deriveEvents(journal).map(({ word }) => word);
}

const held = (story: Story) => story.held("remove_item", { item: 1 });

describe("a held call", () => {
  test("says what is to be approved, until when and by how many", () => {
    const story = startStory(POLICY);
    const { holdId, decisionId } = held(story);
    expect(deriveEvents(story.journal)).toEqual([
      {
        ...{ word: "held", id: `held-${holdId}`, atMs: story.nowMs },
        data: {
          ...{ approvalId: holdId, decisionId, tenantId: "acme", conversationId: "c" },
          ...{ agentId: "agent", callId: "call-1", tool: "remove_item", at: story.nowMs },
          ...{ arguments: { item: 1 }, argumentsBeginning: null, replaces: null },
          ...{ expiresAt: story.nowMs + 5 * MINUTE, requireReason: false, approvals: 1 },
          rule: "authorization.tiers[0]",
          message: expect.stringContaining("approval"),
          further: { of: "removals", notOf: [] },
        },
      },
    ]);
  });

  test.each([
    ["approved", (story: Story) => story.approved(held(story), { by: "ann" })],
    ["denied", (story: Story) => story.denied(held(story), { by: "ann", reason: "no" })],
    [
      "cancelled",
      (story: Story) => story.said({ kind: "cancel", approvalId: held(story).holdId, by: "ann" }),
    ],
    [
      "expired",
      (story: Story) => {
        held(story);
        story.after(5 * MINUTE).ticked();
      },
    ],
    [
      "expired",
      (story: Story) => {
        const hold = held(story);
        story.after(5 * MINUTE).approved(hold);
      },
    ],
    [
      "refused",
      (story: Story) => {
        const hold = held(story);
        story.under({ ...POLICY, kill: { tools: ["remove_item"] } } as never).approved(hold);
      },
    ],
  ] as const)("ends once: %s", (word, play) => {
    const story = startStory(POLICY);
    play(story);
    expect(wordsOf(story)).toEqual(["held", word]);
    const approvalIds = deriveEvents(story.journal).map(({ data }) =>
      Reflect.get(data, "approvalId"),
    );
    expect(new Set(approvalIds).size).toBe(1);
  });

  test("names who denied it, the reason, and what the model learns", () => {
    const story = startStory(POLICY);
    story.denied(held(story), { by: "ann", reason: "not today" });
    expect(deriveEvents(story.journal)[1]?.data).toMatchObject({
      ...{ by: ["ann"], reason: "not today" },
      refusal: { reason: "approval_denied", message: expect.stringContaining("not today") },
    });
  });

  test("that is held anew names the hold that it replaces", () => {
    const story = startStory(POLICY);
    const hold = held(story);
    const [tier] = POLICY.authorization.tiers;
    const other = { ...POLICY, authorization: { tiers: [{ ...tier, require_reason: true }] } };
    story.under(other as never).approved(hold);
    expect(wordsOf(story)).toEqual(["held", "held"]);
    expect(deriveEvents(story.journal)[1]?.data).toMatchObject({ replaces: hold.holdId });
  });

  test("with long arguments shows their beginning", () => {
    const story = startStory(POLICY);
    story.held("remove_item", { item: "x".repeat(20_000) });
    const { data } = deriveEvents(story.journal)[0] as NotifyEvent & { data: object };
    expect(data).toMatchObject({
      arguments: null,
      argumentsBeginning: expect.stringMatching(/^\{"item":"xxx/),
    });
    expect(JSON.stringify(data).length).toBeLessThan(8_000);
  });

  test("shows digests in place of sensitive arguments", () => {
    const policy = {
      ...POLICY,
      tool_schemas: { remove_item: { sensitive: ["card"] } },
    };
    const story = startStory(policy as never, sealingOf("k1"));
    story.held("remove_item", { item: 1, card: "4111111111111111" });
    const text = JSON.stringify(deriveEvents(story.journal));
    expect(text).toContain('"card":"sealed:k1:');
    expect(text).not.toContain("4111111111111111");
  });
});

describe("nobody hears", () => {
  test("of calls that were never held, nor of repeated decisions", () => {
    const story = startStory(POLICY);
    story.done("look");
    story.refused("nothing");
    const proposal = story.proposal("remove_item", { item: 1 });
    story.when(proposal);
    story.when(proposal);
    expect(wordsOf(story)).toEqual(["held"]);
  });

  test.each(["repeated", "result_recorded", "outcome_unknown", "reconciled", "ignored"] as const)(
    "of %s",
    (type) => expect(deriveEvents([SAMPLE_EVENTS[type]])).toEqual([]),
  );
});

describe("the end of a conversation", () => {
  test("by a person says who and why, each end with an id of its own", () => {
    const story = startStory(POLICY);
    story.done("look");
    story.said({ kind: "end", by: "ann", reason: "enough" });
    story.after(1).said({ kind: "resume" });
    story.after(1).said({ kind: "end", by: "ann" });
    const events = deriveEvents(story.journal);
    expect(events.map(({ data }) => data)).toEqual([
      expect.objectContaining({ cause: "person", by: "ann", reason: "enough", agentId: null }),
      expect.objectContaining({ cause: "person", by: "ann", reason: null }),
    ]);
    expect(new Set(events.map(({ id }) => id)).size).toBe(2);
  });

  test("by escalation names the call", () => {
    const refused = SAMPLE_EVENTS.refused as Extract<GateEvent, { type: "refused" }>;
    const raised = { acknowledgement: false, userInput: false, ended: "conversation" } as const;
    const approval = { approvalId: null, approvedBy: [] };
    const [event] = deriveEvents([{ ...refused, raised, approval }]);
    expect(event).toMatchObject({
      word: "conversation_ended",
      data: { cause: "escalation", by: null, decisionId: refused.decisionId },
    });
  });
});

const ALERT: Alert = {
  ...{ alertId: "calls_spike:calls:acme/☃:1", kind: "calls_spike", severity: "warning" },
  ...{ tenantId: "acme", conversationId: "☃/1", agentId: null, tool: null, reason: null },
  ...{ decisionId: null, message: "many", value: 9, threshold: 3, windowMs: null, count: 1 },
  ...{ atMs: 1_000, resolvedAtMs: null },
};

describe("a CloudEvent", () => {
  test("has the members of version 1.0, and an id that is stable and fits a header", () => {
    const event = alertEvent(ALERT);
    const whole = JSON.parse(cloudEventOf(event, "/callgate/eu"));
    expect(whole).toEqual({
      ...{ specversion: "1.0", id: event.id, source: "/callgate/eu" },
      ...{ type: "callgate.alert.raised", subject: "acme/%E2%98%83%2F1" },
      ...{ time: "1970-01-01T00:00:01.000Z", datacontenttype: "application/json" },
      data: expect.objectContaining({ at: 1_000, resolvedAt: null, severity: "warning" }),
    });
    expect(event.id).toMatch(/^alert-[0-9a-f]{32}$/);
    expect(alertEvent({ ...ALERT }).id).toBe(event.id);
    const resolved = alertEvent({ ...ALERT, resolvedAtMs: 5_000 });
    expect(resolved.id).not.toBe(event.id);
    expect(JSON.parse(cloudEventOf(resolved, "/"))).toMatchObject({
      type: "callgate.alert.resolved",
      time: "1970-01-01T00:00:05.000Z",
    });
  });

  test("has a type for each word", () => {
    const story = startStory(POLICY);
    story.denied(held(story));
    story.said({ kind: "end" });
    const types = deriveEvents(story.journal).map(
      (event) => JSON.parse(cloudEventOf(event, "/")).type,
    );
    expect(types).toEqual([
      "callgate.call.held",
      "callgate.call.denied",
      "callgate.conversation.ended",
    ]);
  });
});
