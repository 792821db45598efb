// Each reason that a decision may have occurs in a conversation.
import { describe, expect, test } from "vitest";
import type { EnvelopeRejection } from "../../../../services/core/inputs.ts";
import { LIMITS } from "../../../../services/core/limits.ts";
import type { PolicyDocument } from "../../../../services/core/policy/document.ts";
import type { ReasonCode } from "../../../../services/core/reasons/reasons.ts";
import { MINUTE, ofType, SECOND, type Story, startStory } from "../../../support/decider-spec.ts";

const POLICY: PolicyDocument = {
  deduplication: { window_ms: 10 * SECOND, cache_ttl_ms: SECOND },
  authorization: {
    tiers: [
      { name: "never", pattern: "denied", action: "deny" },
      { name: "ask", pattern: "ask", action: "hitl", expires_ms: MINUTE },
      { name: "few", pattern: "granted", action: "per_conversation_grant", ceiling: 1 },
      {
        name: "slow",
        pattern: "get",
        action: "allowlist",
        rate_limit: { count: 1, windowMs: MINUTE },
      },
    ],
  },
  tool_schemas: {
    write: {},
    log: { repeatable: true },
    log_b: { repeatable: true },
    look: { read_only: true },
    strict: { input_schema: { type: "object", required: ["id"] } },
    make: { effects: [{ resource: "thing/{id}", kind: "create" }] },
    often: { repeatable: true, frequency: { count: 1, windowMs: MINUTE } },
  },
};

const rejected = (reason: EnvelopeRejection["reason"]) => ({
  rejected: { reason, message: "no" },
});
const stopped = (story: Story, document: PolicyDocument): Story => {
  const other = story.under({ ...POLICY, ...document });
  other.done("write");
  other.refused("write");
  return other;
};

const CASES: Readonly<Partial<Record<ReasonCode, (story: Story) => ReasonCode>>> = {
  malformed: (story) => story.reason("look", "{"),
  too_large: (story) => story.reason("look", {}, rejected("too_large")),
  misrouted: (story) => story.reason("look", {}, rejected("misrouted")),
  unauthenticated: (story) => story.reason("look", {}, rejected("unauthenticated")),
  overloaded: (story) => story.reason("look", {}, rejected("overloaded")),
  call_id_conflict: (story) => {
    story.allowed("look", { n: 1 }, { callId: "c", step: "s" });
    return story.reason("look", { n: 2 }, { callId: "c", step: "s" });
  },
  unknown_tool: (story) => story.reason("nobody"),
  invalid_arguments: (story) => story.reason("strict"),
  conversation_ended: (story) =>
    stopped(story, { escalation: { user_input: "off", end: { at: 1, lasts: "turn" } } }).reason(
      "look",
    ),
  user_input_required: (story) => stopped(story, { escalation: { user_input: 1 } }).reason("look"),
  budget_steps: (story) => story.under({ ...POLICY, budgets: { max_steps: 0 } }).reason("look"),
  budget_calls: (story) =>
    story.under({ ...POLICY, budgets: { max_tool_calls: 0 } }).reason("look"),
  duplicate_call: (story) => {
    story.done("write");
    return story.reason("write");
  },
  duplicate_in_flight: (story) => {
    story.allowed("write");
    return story.reason("write");
  },
  outcome_unknown: (story) => {
    story.reported(story.allowed("write"), { status: "unknown" });
    return story.reason("write");
  },
  history_full: (story) => {
    for (let n = 0; n < LIMITS.openCalls; n += 1) story.allowed("write", { n });
    return story.reason("write");
  },
  side_effect_conflict: (story) => {
    story.done("make", { id: 1 });
    return story.after(MINUTE).reason("make", { id: 1 });
  },
  loop_repeat: (story) => {
    for (const _ of [1, 2]) story.done("log", {}, "same");
    return story.reason("log");
  },
  loop_cycle: (story) => {
    let n = 0;
    for (const tool of ["log_b", "log", "log_b", "log"]) story.done(tool, {}, `${n++}`);
    for (const tool of ["log_b", "log"]) story.done(tool, {}, `${n++ % 2}`);
    return story.reason("log_b");
  },
  failure_streak: (story) => {
    for (const _ of [1, 2, 3]) story.failed("write");
    return story.reason("write");
  },
  tool_frequency: (story) => {
    story.done("often");
    return story.reason("often");
  },
  tier_denied: (story) => story.reason("denied"),
  rate_limited: (story) => {
    story.done("get", { n: 1 });
    return story.reason("get", { n: 2 });
  },
  grant_exceeded: (story) => {
    story.done("granted", { n: 1 });
    return story.reason("granted", { n: 2 });
  },
  approval_required: (story) => {
    const {
      notices: { warnings },
    } = story.under({ ...POLICY, checks: { approval_required: "warn" } }).allowed("ask");
    return warnings[0]?.reason as ReasonCode;
  },
  near_duplicate: (story) => {
    const similarity = [{ field: "text", threshold: 0.5 }];
    const tool_schemas = { put: { similarity } };
    story.under({ ...POLICY, tool_schemas, checks: { near_duplicate: "enforce" } });
    story.done("put", { text: "a b c d e" });
    return story.reason("put", { text: "a b c d e f" });
  },
  acknowledgement_required: (story) => {
    const explicit = { mode: "explicit" } as const;
    const asks = { acknowledgement: explicit, escalation: { options: 1 } };
    return stopped(story, asks).reason("look");
  },
  budget_seconds: (story) => {
    story.under({ ...POLICY, budgets: { max_seconds: 1 } }).done("look");
    return story.after(SECOND).reason("look", { n: 2 });
  },
  budget_spend: (story) => {
    const limit = { amount: "1", currency: "USD" };
    const estimatedCost = { microUnits: 1_000_001, currency: "USD" };
    return story
      .under({ ...POLICY, budgets: { max_spend: limit } })
      .reason("look", {}, { estimatedCost });
  },
  retry_exhausted: (story) => {
    story.under({ ...POLICY, tools: { retries: {} } }).failed("write");
    return story.reason("write");
  },
  retry_too_soon: (story) => {
    story.under({ ...POLICY, tools: { retries: { backoff_ms: [1, 1] } } });
    story.failed("write", {}, "503");
    return story.reason("write");
  },
  loop_no_progress: (story) => {
    story.under({ ...POLICY, checks: { loop_no_progress: "enforce" } });
    for (const n of [1, 2, 3]) story.done("look", { n }, "one");
    return story.reason("look", { n: 4 });
  },
  loop_rotation: (story) => {
    const loops = { rotation: { calls: 2, keys: 2 } };
    story.under({ ...POLICY, loops, checks: { loop_rotation: "enforce" } });
    for (const n of [1, 2]) story.done("look", { n }, null);
    return story.reason("look", { n: 1 });
  },
  failure_run: (story) => {
    story.under({ ...POLICY, checks: { failure_run: "enforce" } });
    for (const n of [1, 2, 3, 4, 5]) story.failed("write", { n });
    return story.reason("write", { n: 6 });
  },
  approval_denied: (story) => ofType(story.denied(story.held("ask")), "refused").refusal.reason,
  approval_expired: (story) => {
    story.held("ask");
    const [event] = story.after(MINUTE).ticked();
    return event?.type === "refused" ? event.refusal.reason : "malformed";
  },
};

describe("every reason that a check gives occurs", () => {
  test.each(Object.entries(CASES))("%s", (code, story) => {
    expect(story(startStory(POLICY))).toBe(code);
  });
});
