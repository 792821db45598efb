import { describe, expect, test } from "vitest";
import type { PolicyDocument } from "../../../../services/core/policy/document.ts";
import { HOUR, MINUTE, startStory } from "../../../support/decider-spec.ts";

const POLICY: PolicyDocument = {
  conversation: { idle_ms: 2 * HOUR },
  idempotency: { ttl_ms: HOUR },
  deduplication: { window_ms: 10 * MINUTE, cache_ttl_ms: MINUTE },
  authorization: {
    tiers: [
      {
        name: "reads",
        pattern: "get_*",
        action: "allowlist",
        rate_limit: { count: 9, windowMs: 9 },
      },
      { name: "few", pattern: "put_*", action: "per_conversation_grant", ceiling: 9, ttl_ms: 99 },
      { name: "more", pattern: "add_*", action: "per_conversation_grant", ceiling: 9 },
    ],
  },
  tool_schemas: {
    get_both: { reads: ["a/{id}", "b/{id}"], frequency: { count: 5, windowMs: 55 } },
    move: {
      effects: [
        { resource: "a/{from}", kind: "delete" },
        { resource: "b/{to}", kind: "create", exclusive: false },
        { resource: "log", kind: "read" },
      ],
    },
  },
};

test("a write that declares no effects may have touched anything", () => {
  const story = startStory({ tool_schemas: { write: {} } });
  expect(story.allowed("write").facts.resources).toBeNull();
  const similar = { similarity: [{ field: "content", threshold: 0.9 }] };
  const compared = startStory({ tool_schemas: { write: similar } });
  expect(compared.allowed("write", { content: "a" }).facts.resources).toBeNull();
});

describe("the facts of a call", () => {
  test("include the resources that it touches, null where one has no name", () => {
    const story = startStory(POLICY);
    const facts = story.allowed("move", { from: 1, to: 2 }).facts;
    expect(facts.resources).toEqual(["a/1", "b/2"]);
    expect(facts.exclusive).toMatchObject([{ resource: "a/1", kind: "delete" }]);
    expect(story.allowed("move", { from: 2 }).facts.resources).toBeNull();
    expect(story.allowed("get_both", { id: 1 }).facts.resources).toEqual(["a/1", "b/1"]);
    expect(story.allowed("get_both", {}).facts.resources).toBeNull();
    expect(story.allowed("put_x").facts.resources).toBeNull();
  });

  test("include its windows: a read's cache, a write's repeats, and how long it is remembered", () => {
    const story = startStory(POLICY);
    expect(story.allowed("get_both", { id: 1 }).facts).toMatchObject({
      windowUntilMs: story.nowMs + MINUTE,
      dropAtMs: story.nowMs + 2 * HOUR,
    });
    expect(story.allowed("put_x").facts).toMatchObject({
      windowUntilMs: story.nowMs + 10 * MINUTE,
      dropAtMs: story.nowMs + HOUR,
    });
    // As long as the conversation may last: for that long a recent call may need it as an excuse.
    expect(story.allowed("move", { from: 1, to: 2 }).facts).toMatchObject({
      windowUntilMs: story.nowMs + 10 * MINUTE,
      dropAtMs: story.nowMs + 168 * HOUR,
    });
  });

  test("include the counters that it advances", () => {
    const story = startStory(POLICY);
    expect(story.allowed("get_both", { id: 1 }).facts.rates).toEqual([
      { key: "tier:reads", windowMs: 9 },
      { key: "tool:get_both", windowMs: 55 },
    ]);
    const few = story.allowed("put_x");
    expect(few.facts.grant).toEqual({ tier: "few", expiresAtMs: story.nowMs + 99 });
    expect(story.allowed("add_x").facts.grant).toMatchObject({ tier: "more" });
    expect(few.facts.rates).toEqual([]);
  });

  test("include the repeats in a row that ran", () => {
    const story = startStory({ ...POLICY, tool_deduplication: { exact_duplicate_threshold: 9 } });
    const repeats = [1, 2, 3].map((n) => story.done("get_both", { id: 1 }, `${n}`).facts.repeats);
    expect(repeats).toEqual([0, 1, 2]);
  });
});

test("have no extra members for a call without cost, sketches, grant or pending names", () => {
  const similarity = [{ field: "text", threshold: 0.9 }];
  const page = { similarity, checks: { near_duplicate: "off" } } as const;
  const story = startStory({ tool_schemas: { page, write: {} } });
  expect(story.allowed("write").facts.more).toBeNull();
  expect(story.allowed("page", { text: "a b c d" }).facts.more).toBeNull();
});

test("a missing argument of an exclusive effect is reported by its own name, once", () => {
  const story = startStory({
    tool_schemas: {
      send: {
        effects: [
          { resource: "mail/{to}/{meta.subject}", kind: "send" },
          { resource: "outbox/{to}", kind: "create" },
          { resource: "log/{note}", kind: "update" },
        ],
      },
    },
  });
  const { refusal } = story.refused("send", { to: null, meta: {} });
  expect(refusal).toMatchObject({
    reason: "invalid_arguments",
    problems: [
      { path: "$.to", message: "is missing, and says what the call would change" },
      { path: "$.meta.subject", message: "is missing, and says what the call would change" },
    ],
  });
  const empty = story.refused("send", { to: " ", meta: { subject: {} }, note: "" }).refusal;
  expect(empty.problems?.map(({ path }) => path)).toEqual(["$.to", "$.meta.subject"]);
  story.allowed("send", { to: "a", meta: { subject: "b" } });
});
