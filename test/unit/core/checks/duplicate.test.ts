import { describe, expect, test } from "vitest";
import type { PolicyDocument } from "../../../../services/core/policy/document.ts";
import { HOUR, MINUTE, ofType, SECOND, startStory } from "../../../support/decider-spec.ts";

const NOTHING_TAKEN = { type: "object", properties: {}, additionalProperties: false } as const;

const POLICY: PolicyDocument = {
  tool_schemas: {
    get_order: { read_only: true, reads: ["order/{id}"] },
    set_order: { effects: [{ resource: "order/{id}", kind: "update" }] },
    look: { read_only: true },
    watch: { volatile: true },
    poll: { polling: { max_calls: 50 } },
    write: {},
    other: {},
    log: { repeatable: true },
    transfer: { batchable: true },
    reboot: { input_schema: NOTHING_TAKEN },
    ask: { risk_level: "HIGH" },
    ask_many: { risk_level: "HIGH", batchable: true },
  },
};

describe("a repeated read", () => {
  test("is answered from memory with the earlier result and is no strike", () => {
    const story = startStory(POLICY);
    const first = story.done("look", { id: 1 }, '{"found":true}');
    const { refusal, strike, answered } = story.refused("look", { id: 1 });
    expect(refusal).toMatchObject({
      reason: "duplicate_call",
      disposition: "use_previous_result",
      previousResult: { inline: '{"found":true}' },
      previousCall: { callId: first.call.callId, status: "succeeded" },
      level: 0,
    });
    expect(strike).toBeNull();
    expect(answered?.outputDigest).toMatch(/^[0-9a-f]{64}$/);
  });

  test("runs again when its cache time has passed, to the millisecond", () => {
    const story = startStory(POLICY);
    story.done("look", { id: 1 });
    story.done("look", { id: 2 });
    story.after(MINUTE - 1);
    expect(story.reason("look", { id: 1 })).toBe("duplicate_call");
    story.after(1).allowed("look", { id: 2 });
  });

  test("runs again when its output was not stored whole", () => {
    const story = startStory({ ...POLICY, limits: { output_bytes: 8 } });
    story.done("look", {}, "too long to keep");
    story.allowed("look");
  });

  test("runs again when the report says that the output was cut", () => {
    const story = startStory(POLICY);
    story.reported(story.allowed("look"), { output: "the first part", outputBytes: 1_000_000 });
    story.allowed("look");
  });

  test("runs again after a write of an undeclared resource", () => {
    const story = startStory(POLICY);
    story.done("get_order", { id: 1 });
    story.done("write");
    story.allowed("get_order", { id: 1 });
  });

  test("runs again after a write of its resource, not after one of another", () => {
    const story = startStory(POLICY);
    story.done("get_order", { id: 1 });
    story.done("set_order", { id: 2 });
    expect(story.reason("get_order", { id: 1 })).toBe("duplicate_call");
    story.done("set_order", { id: 1 });
    story.allowed("get_order", { id: 1 });
  });

  test("runs again while a write is in flight or of unknown outcome", () => {
    const story = startStory(POLICY);
    story.done("look");
    const write = story.allowed("write");
    story.done("look", {}, "while it was in flight");
    story.reported(write, { status: "unknown" });
    story.allowed("look");
  });

  test("runs again after a write that failed and may have taken effect, not after one that had none", () => {
    const story = startStory(POLICY);
    story.done("look");
    story.reported(story.allowed("write"), { status: "failed", effect: "none" });
    story.reported(story.allowed("write", { n: 2 }), { status: "not_executed" });
    expect(story.reason("look")).toBe("duplicate_call");
    story.failed("write", { n: 3 }, "E1");
    story.allowed("look");
  });

  test("is never answered from memory for a volatile tool", () => {
    const story = startStory(POLICY);
    story.done("watch", {}, "a");
    story.allowed("watch");
  });

  test("is ignored for a polling tool, in flight or not", () => {
    const story = startStory(POLICY);
    story.allowed("poll");
    story.allowed("poll");
  });

  test("runs again when a confirmation names it", () => {
    const story = startStory(POLICY);
    story.done("look");
    story.allowed("look", {}, { confirmation: "yes" });
  });

  test("runs until the repeat that the policy answers from memory", () => {
    const story = startStory({
      ...POLICY,
      tool_deduplication: { exact_duplicate_threshold: 2 },
    });
    story.done("look");
    story.done("look", {}, "again");
    expect(story.refused("look").refusal.previousResult).toMatchObject({ inline: "again" });
  });
});

describe("a repeated write", () => {
  test("is refused within its window and is a strike", () => {
    const story = startStory(POLICY);
    story.done("write", { id: 1 }, "made");
    const { refusal, strike, answered } = story.refused("write", { id: 1 });
    expect(refusal).toMatchObject({
      reason: "duplicate_call",
      duplicate: true,
      level: 1,
      resolution: { type: "confirmation" },
      previousResult: { inline: "made" },
    });
    expect(strike?.count).toBe(1);
    expect(answered).toBeNull();
    story.after(5 * MINUTE - 1);
    expect(story.reason("write", { id: 1 })).toBe("duplicate_call");
    story.after(1).allowed("write", { id: 1 });
  });

  test("is recognized in any spelling of its arguments", () => {
    const story = startStory(POLICY);
    story.done("write", '{"a":1,"b":"x"}');
    expect(story.reason("write", '{ "b": "\\u0078", "a": 1 }')).toBe("duplicate_call");
    story.allowed("write", '{"a":1,"b":"X"}');
  });

  test("is intended when another write succeeded since", () => {
    const story = startStory(POLICY);
    story.done("write", { id: 1 });
    story.allowed("other");
    story.allowed("write", { id: 1 });
  });

  test("is not intended when the other write failed, even by time-out", () => {
    const story = startStory(POLICY);
    story.done("write", { id: 1 });
    story.failed("other", {}, "503");
    expect(story.reason("write", { id: 1 })).toBe("duplicate_call");
  });

  test("is not intended when only reads, or the same write, came since", () => {
    const story = startStory(POLICY);
    story.done("write", { id: 1 });
    story.done("look");
    story.allowed("write", { id: 1 }, { confirmation: "yes" });
    story.reported(story.journal.at(-1) as never, { output: "again" });
    expect(story.reason("write", { id: 1 })).toBe("duplicate_call");
  });

  test("runs once with a confirmation", () => {
    const story = startStory(POLICY);
    story.done("write");
    const again = story.allowed("write", {}, { confirmation: "yes" });
    expect(again.conversation.confirmation).toBe("yes");
    story.reported(again, { output: "fine" });
    expect(story.reason("write", {}, { confirmation: "yes" })).toBe("duplicate_call");
  });

  test("runs for repeatable tools and for tools without parameters", () => {
    const story = startStory(POLICY);
    for (const tool of ["log", "reboot"]) {
      story.done(tool, {}, "a");
      story.done(tool, {}, "b");
    }
  });

  test("runs at the same time as its prior call for a tool without parameters", () => {
    const story = startStory(POLICY);
    story.allowed("reboot");
    story.allowed("reboot");
  });

  test("runs as one of the parallel calls of a batchable tool's step", () => {
    const story = startStory(POLICY);
    const first = story.allowed("transfer", {}, { step: "s" });
    const second = story.allowed("transfer", {}, { step: "s" });
    story.reported(first, { output: "a" });
    story.reported(second, { output: "b" });
    story.allowed("transfer", {}, { step: "s" });
    expect(story.reason("transfer", {}, { step: "t" })).toBe("duplicate_in_flight");
  });
});

describe("a prior call without a result", () => {
  test("refuses the repeat while it is in flight, says when to ask again, and counts no strike", () => {
    const story = startStory(POLICY);
    story.allowed("look");
    const { refusal, strike } = story.after(SECOND).refused("look");
    expect(refusal).toMatchObject({
      reason: "duplicate_in_flight",
      disposition: "wait",
      resolution: { type: "retry_after", retryAfterMs: 1_000 },
    });
    expect(strike).toBeNull();
  });

  test("refuses the repeat while it waits for a person, and names the approval again", () => {
    const story = startStory(POLICY);
    const { decisionId, holdId } = story.held("ask", { id: 1 });
    const { refusal } = story.refused("ask", { id: 1 });
    expect(refusal).toMatchObject({
      reason: "duplicate_in_flight",
      disposition: "wait",
      resolution: { type: "approval", approvalId: holdId },
      previousCall: { decisionId, status: "held" },
    });
    expect(refusal.message).toContain("waiting for a person");
  });

  test("lets parallel calls of a batchable tool wait for a person, too", () => {
    const story = startStory(POLICY);
    story.held("ask_many", {}, { step: "s" });
    story.held("ask_many", {}, { step: "s" });
    expect(story.reason("ask_many", {}, { step: "t" })).toBe("duplicate_in_flight");
  });

  test("refuses a repeated write while its outcome is unknown, until it is reconciled", () => {
    const story = startStory(POLICY);
    const call = story.allowed("write");
    story.reported(call, { status: "unknown" });
    const { refusal, strike } = story.refused("write");
    expect(refusal).toMatchObject({
      reason: "outcome_unknown",
      disposition: "ask_user",
      resolution: { type: "confirmation" },
    });
    expect(strike?.count).toBe(1);
    story.reconciled(call, "not_executed");
    story.allowed("write");
  });

  test("is not forgotten after its windows while its outcome is unknown", () => {
    const story = startStory({
      ...POLICY,
      idempotency: { ttl_ms: SECOND },
      deduplication: { window_ms: SECOND },
    });
    story.allowed("write");
    story.after(4 * MINUTE).ticked();
    story.after(20 * HOUR);
    expect(story.reason("write")).toBe("outcome_unknown");
    story.allowed("write", {}, { confirmation: "yes" });
  });

  test("lets reads run again while its outcome is unknown", () => {
    const story = startStory(POLICY);
    story.reported(story.allowed("look"), { status: "unknown" });
    story.allowed("look");
  });
});

describe("a prior call that failed or was not executed", () => {
  test("makes no repeat a duplicate", () => {
    const story = startStory(POLICY);
    story.failed("write");
    story.reported(story.allowed("write"), { status: "not_executed" });
    story.allowed("write");
  });
});

describe("identity", () => {
  test("ends with the turn under `scope: turn`", () => {
    const story = startStory({ ...POLICY, deduplication: { scope: "turn" } });
    story.done("write");
    expect(story.reason("write")).toBe("duplicate_call");
    story.turn("2").allowed("write");
  });

  test("consists of the declared fields, after their normalizers", () => {
    const story = startStory({
      tool_schemas: {
        invoice: {
          canonical_fields: ["currency"],
          normalizers: { currency: [{ name: "to_upper", arguments: [] }] },
        },
      },
    });
    story.done("invoice", { currency: "eur", note: "first" });
    expect(story.reason("invoice", { currency: "EUR", note: "second" })).toBe("duplicate_call");
    story.allowed("invoice", { currency: "USD" });
  });
});

describe("without declarations", () => {
  const T2: PolicyDocument = { tools: { dedupe_window_s: 60, cache_ttl_s: 30 } };

  test("a repeat is answered as a read's within the cache time, whatever came between", () => {
    const story = startStory(T2);
    story.done("a", {}, "result");
    story.done("b");
    const { refusal, answered, strike } = story.refused("a");
    expect(refusal.previousResult).toMatchObject({ inline: "result" });
    expect([answered === null, strike]).toEqual([false, null]);
  });

  test("a repeat is refused as a write's until its window ends", () => {
    const story = startStory(T2);
    story.done("a");
    story.after(30 * SECOND);
    expect(story.refused("a").strike?.count).toBe(1);
    story.after(30 * SECOND).allowed("a");
  });

  test("early repeats run where only later ones are answered from memory", () => {
    const story = startStory({ tool_deduplication: { exact_duplicate_threshold: 2 } });
    story.done("a", {}, "first");
    story.done("a", {}, "second");
    const { answered, refusal } = story.refused("a");
    expect([answered === null, refusal.previousResult]).toMatchObject([
      false,
      { inline: "second" },
    ]);
  });
});

test("a repeat runs where the checks are off or only warn", () => {
  const off = startStory({ ...POLICY, checks: { duplicate_call: "off" } });
  off.done("write");
  expect(off.allowed("write")).toMatchObject({ notices: { warnings: [], shadow: [] } });
  const warn = startStory({ ...POLICY, checks: { duplicate_call: "warn" } });
  warn.done("write");
  const again = warn.allowed("write");
  expect(again.notices.warnings).toMatchObject([
    { reason: "duplicate_call", rule: "deduplication" },
  ]);
  expect(ofType(again, "allowed").notices.shadow).toEqual([]);
});

test("the remaining one of two held calls of a batch still refuses a repeat", () => {
  const story = startStory(POLICY);
  const [first] = [1, 2].map(() => story.held("ask_many", {}, { step: "one" }));
  if (first !== undefined) story.denied(first);
  expect(story.reason("ask_many", {}, { step: "two" })).toBe("duplicate_in_flight");
});
