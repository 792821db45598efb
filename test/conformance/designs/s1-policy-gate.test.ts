// What the published design of a pre-execution policy gate promises, row by row (docs/coverage.md).
import { expect, test } from "vitest";
import { isRefused } from "../../../services/library/callgate.ts";
import { outcomeOf } from "../../support/gate-story/gate-story.ts";
import { tell } from "../../support/gate-story/tell.ts";

const HOUR = 3_600_000;

const ORDERS = {
  authorization: {
    tiers: [
      { name: "reads", pattern: "get_*|list_*", action: "allowlist" },
      {
        name: "writes",
        pattern: "create_*|update_*",
        action: "per_conversation_grant",
        ceiling: 10,
      },
      { name: "destructive", pattern: "delete_*|transfer_*", action: "hitl", expires_ms: 900_000 },
    ],
  },
  tool_schemas: {
    create_invoice: {
      effects: [{ resource: "order/{order_id}/payment", kind: "custom", exclusive: true }],
    },
    charge_card: {
      canonical_fields: ["order_id", "amount"],
      normalizers: { amount: "decimal", order_id: "trim" },
      effects: [{ resource: "order/{order_id}/payment", kind: "charge" }],
    },
    call_person: { normalizers: { phone: "e164(US)", urgent: "to_bool", name: "collapse_space" } },
    pay: { idempotency_argument: "key" },
  },
};

test("S1.1 a refused call never runs: the gate decides before the execution", async () => {
  const story = await tell({ tool_schemas: { create_document: {} } });
  let runs = 0;
  const tools = story.gate.guard(
    { create_document: (_: { title: string }) => ++runs },
    { conversationId: "c", turn: 1 },
  );
  await tools.create_document({ title: "Plan" });
  const refused = await tools.create_document({ title: "Plan" });
  expect(isRefused(refused) && refused.reason).toBe("duplicate_call");
  const unread = await tools.create_document("{not json");
  expect(isRefused(unread) && unread.reason).toBe("malformed");
  expect(runs).toBe(1);
});

test("S1.2 one of seven identical create_document calls runs", async () => {
  const story = await tell({ tool_schemas: { create_document: {} } });
  const outcomes: string[] = [];
  for (let i = 0; i < 7; i++) {
    outcomes.push(outcomeOf(await story.done("create_document", { title: "Plan" }, { id: "d1" })));
  }
  expect(outcomes.filter((outcome) => outcome === "allowed")).toEqual(["allowed"]);
  expect(outcomes[0]).toBe("allowed");
  expect(outcomes[1]).toBe("duplicate_call");
});

test("S1.3 spellings of one value are one call: amounts, phone numbers, spaces, booleans", async () => {
  const story = await tell(ORDERS);
  await story.done("charge_card", { order_id: "7", amount: 100 });
  expect(await story.outcome("charge_card", '{"amount":100.00,"order_id":" 7 "}')).toBe(
    "duplicate_call",
  );
  expect(await story.outcome("charge_card", { order_id: "7", amount: "100.00" })).toBe(
    "duplicate_call",
  );
  story.turn(2);
  await story.done("call_person", { phone: "+1-555-0199", urgent: true, name: "Ann  Lee" });
  const spelled = { phone: "5550199", urgent: "YES", name: " Ann Lee" };
  expect(await story.outcome("call_person", spelled)).toBe("duplicate_call");
  expect(await story.outcome("call_person", { ...spelled, phone: "5550198" })).toBe("allowed");
});

test("S1.3 white space and other spellings do not bypass where no normalizer is declared", async () => {
  const story = await tell({ tool_schemas: { create_document: {} } });
  await story.done("create_document", { title: "Plan", at: { tags: ["a", "b"] } });
  for (const args of [
    { title: " Plan\n", at: { tags: ["a", "b"] } },
    { title: "Pl\u200ban", at: '{ "tags": ["a", "b "] }' },
    { title: "Ｐｌａｎ", at: { tags: ["a", "\u00adb"] } },
  ]) {
    expect(await story.outcome("create_document", args)).toBe("duplicate_call");
  }
  expect(await story.outcome("create_document", { title: "P lan" })).toBe("allowed");
});

test("S1.4 the key comes from the content, never from the model, and a retry has the same key", async () => {
  const story = await tell(ORDERS);
  const first = await story.propose("pay", { order: "7", key: "made-by-the-model" });
  expect(first.arguments).toEqual({ order: "7", key: first.idempotencyKey });
  await story.report(first, {
    status: "failed",
    error: { message: "504 Gateway Timeout", code: "504" },
  });
  const retry = await story.propose("pay", { key: "another", order: "7" });
  expect(retry.idempotencyKey).toBe(first.idempotencyKey);
  await story.report(retry, { status: "succeeded", output: "paid" });
  expect(await story.outcome("pay", { order: "7", key: "a third" })).toBe("duplicate_call");
  story.after(HOUR);
  story.turn(2);
  const later = await story.propose("pay", { order: "7" });
  expect(later.idempotencyKey).toBe(first.idempotencyKey);
  await story.report(later, { status: "not_executed" });
  const other = await story.propose("pay", { order: "8" });
  expect(other.idempotencyKey).not.toBe(first.idempotencyKey);
});

test("S1.4 after idempotency.ttl_ms the same content is a new execution", async () => {
  const policy = { idempotency: { ttl_ms: HOUR }, tool_schemas: { pay: {} } };
  const story = await tell(policy);
  const first = await story.done("pay", { order: "7" });
  story.after(HOUR + 1);
  story.turn(2);
  const later = await story.propose("pay", { order: "7" });
  expect(later.outcome).toBe("allowed");
  expect(later.idempotencyKey).not.toBe(first.idempotencyKey);
});

test("S1.5 a refusal says why, gives the earlier result and what to do next", async () => {
  const tools = {
    create_document: { suggest: ["get_document"] },
    get_document: { read_only: true },
  };
  const story = await tell({ tool_schemas: tools });
  const first = await story.done("create_document", { title: "Plan" }, { id: "doc-1" });
  const { refusal } = await story.propose("create_document", { title: "Plan" });
  expect(refusal).toMatchObject({
    schemaVersion: 1,
    reason: "duplicate_call",
    disposition: "use_previous_result",
    retryable: false,
    previousCall: { callId: first.callId, status: "succeeded" },
    previousResult: { inline: '{"id":"doc-1"}', bytes: 14 },
    suggestedNext: ["get_document"],
  });
  expect(refusal?.message).toContain("doc-1");
  const stored = await story.gate.previousResult(first.decisionId ?? "");
  expect(stored?.output).toEqual({ id: "doc-1" });
});

test("S1.6 tiers: reads run, writes have a grant, removals ask, unknown tools are denied", async () => {
  const story = await tell(ORDERS);
  expect(await story.outcome("get_order", { id: 1 })).toBe("allowed");
  expect(await story.outcome("create_order", { id: 1 })).toBe("allowed");
  expect(await story.outcome("delete_order", { id: 1 })).toBe("held");
  expect(await story.outcome("format_disk", {})).toBe("unknown_tool");
});

test("S1.6 a tool of high risk asks a person whatever its name", async () => {
  const story = await tell({ tool_schemas: { get_money: { risk_level: "HIGH" }, note: {} } });
  expect(await story.outcome("get_money", { amount: 1 })).toBe("held");
  expect(await story.outcome("note", { text: "a" })).toBe("allowed");
});

test("S1.7 create_invoice and charge_card for one order are one effect", async () => {
  const story = await tell(ORDERS);
  const invoice = await story.done("create_invoice", { order_id: "7" });
  const charge = { order_id: "7", amount: 100 };
  const { refusal } = await story.propose("charge_card", charge);
  expect(refusal).toMatchObject({
    reason: "side_effect_conflict",
    conflict: {
      resource: "order/7/payment",
      path: ["create_invoice", "order/7/payment", "charge_card"],
    },
    previousCall: { callId: invoice.callId },
    resolution: { type: "confirmation" },
  });
  expect(await story.outcome("charge_card", { ...charge, order_id: "8" })).toBe("allowed");
  expect(await story.outcome("charge_card", charge, { confirmation: "user-1" })).toBe("allowed");
});

test("S1.7 a bulk call and single calls have one effect on each element", async () => {
  const effects = (resource: string) => ({ effects: [{ resource, kind: "send" }] });
  const story = await tell({
    tool_schemas: { mail_all: effects("mail/{to[]}"), mail_one: effects("mail/{to}") },
  });
  await story.done("mail_all", { to: ["ann", "bob"] });
  expect(await story.outcome("mail_one", { to: "bob" })).toBe("side_effect_conflict");
  const { refusal } = await story.propose("mail_all", { to: ["bob", "cy"] });
  expect(refusal?.message).toContain('this one was done before: "mail/bob"');
  expect(await story.outcome("mail_all", { to: ["cy"] })).toBe("allowed");
});

test("S1.8 the third identical successful call is a loop", async () => {
  const story = await tell({ tool_schemas: { ping: { repeatable: true } } });
  await story.done("ping", { host: "a" }, "pong");
  await story.done("ping", { host: "a" }, "pong");
  expect(await story.outcome("ping", { host: "a" })).toBe("loop_repeat");
});

test("S1.8 loop_threshold as a plain number stops repeats whatever their output", async () => {
  const policy = {
    deduplication: { loop_threshold: 3 },
    tool_schemas: { ping: { repeatable: true } },
  };
  const story = await tell(policy);
  await story.done("ping", { host: "a" }, "pong 1");
  await story.done("ping", { host: "a" }, "pong 2");
  expect(await story.outcome("ping", { host: "a" })).toBe("loop_repeat");
});

test("S1.9 people are asked only about risky calls", async () => {
  const story = await tell(ORDERS);
  const held: string[] = [];
  for (let i = 0; i < 5; i++) {
    for (const tool of ["get_order", "create_order", "delete_order"]) {
      const decision = await story.done(tool, { id: i });
      if (decision.outcome === "held") held.push(tool);
    }
  }
  expect(held).toEqual(Array.from({ length: 5 }, () => "delete_order"));
  await story.propose("delete_order", { id: 0 });
  // Repeating the call does not ask a person again.
  expect(await story.outcome("delete_order", { id: 0 })).toBe("duplicate_in_flight");
});

test("S1.10 a grant has a ceiling and an end, and says which of them was reached", async () => {
  const tier = { name: "w", pattern: "create_*", action: "per_conversation_grant", ceiling: 2 };
  const story = await tell({ authorization: { tiers: [{ ...tier, ttl_ms: HOUR }] } });
  await story.done("create_a", { n: 1 });
  await story.done("create_a", { n: 2 });
  const used = await story.propose("create_a", { n: 3 });
  expect(used.refusal).toMatchObject({
    reason: "grant_exceeded",
    rule: "authorization.tiers[0].ceiling",
  });
  const other = await tell({ authorization: { tiers: [{ ...tier, ttl_ms: HOUR }] } });
  await other.done("create_a", { n: 1 });
  other.after(HOUR);
  const over = await other.propose("create_a", { n: 2 });
  expect(over.refusal?.rule).toBe("authorization.tiers[0].ttl_ms");
});

/** The decision matrix: kinds of tools, and the checks before them. */
test("S1.12 the decision matrix, from a read-only query to an external API", async () => {
  const story = await tell({
    ...ORDERS,
    tool_schemas: {
      ...ORDERS.tool_schemas,
      transfer_money: { effects: [{ resource: "order/{order_id}/payment", kind: "transfer" }] },
      post_to_api: { canonical_fields: ["url"], normalizers: { url: "url" } },
    },
  });
  expect(await story.outcome("get_order", { id: 1 })).toBe("allowed");
  expect(await story.outcome("create_order", { id: 1 })).toBe("allowed");
  expect(await story.outcome("update_order", { id: 1 })).toBe("allowed");
  expect(await story.outcome("delete_order", { id: 1 })).toBe("held");
  expect(await story.outcome("transfer_money", { order_id: "9" })).toBe("held");
  // Effects are checked first, so nobody is asked about a call that would be refused anyway.
  expect(await story.outcome("charge_card", { order_id: "9", amount: 1 })).toBe(
    "side_effect_conflict",
  );
  const post = await story.done("post_to_api", { url: "HTTPS://A.example/x" });
  expect(post.idempotencyKey).toMatch(/^[\w-]{43}$/);
  expect(await story.outcome("post_to_api", { url: "https://a.example/x" })).toBe("duplicate_call");
});

test("S1.13 wrapping functions is all the set-up, and stops a loop", async () => {
  const story = await tell({ tool_schemas: { create_document: { risk_level: "LOW" } } });
  const made: string[] = [];
  const handlers = {
    create_document: ({ title }: { title: string }) => {
      made.push(title);
      return { id: made.length };
    },
    get_weather: (_: { city: string }) => "rain",
  };
  const tools = story.gate.guard(handlers, { conversationId: "c", turn: 1 });
  for (let i = 0; i < 3; i++) await tools.create_document({ title: "Plan" });
  expect(made).toEqual(["Plan"]);
  expect(await tools.get_weather({ city: "Rome" })).toBe("rain");
});

test("S1.14 a retry of a failed call runs, a repeat of a successful one does not", async () => {
  const story = await tell(ORDERS);
  await story.failed("pay", { order: "7" }, "connection timed out");
  const retry = await story.done("pay", { order: "7" });
  expect(retry.outcome).toBe("allowed");
  expect(await story.outcome("pay", { order: "7" })).toBe("duplicate_call");
});
