// A story that every version of the gate can run: reads, writes, repeats, loops, holds, all
// outcomes, budgets, two tenants, a forgotten conversation.
import type { PolicyDocument } from "../../../services/core/policy/document.ts";
import type { Story, StoryRun } from "./story-run.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

export const FIRST_DOCUMENT: PolicyDocument = {
  preset: "balanced",
  conversation: { max_age_ms: 24 * HOUR, idle_ms: 6 * HOUR },
  deduplication: { window_ms: 30 * MINUTE, cache_ttl_ms: 5 * MINUTE },
  idempotency: { ttl_ms: 2 * HOUR },
  tools: { dedupe_window_s: 1_800, cache_ttl_s: 300 },
  budgets: { max_tool_calls: 16, per_tool: { max_tool_calls: 6 } },
  authorization: {
    tiers: [
      { name: "asked", pattern: "delete_*", action: "hitl", expires_ms: 10 * MINUTE },
      {
        name: "granted",
        pattern: "create_*",
        action: "per_conversation_grant",
        ceiling: 2,
        ttl_ms: HOUR,
      },
      {
        name: "watched",
        pattern: "get_*",
        action: "allowlist",
        rate_limit: { count: 3, windowMs: MINUTE },
      },
      { name: "never", pattern: "purge_*", action: "deny" },
    ],
  },
  tool_schemas: {
    look: { read_only: true },
    peek: { read_only: true, volatile: true },
    get_order: { read_only: true, reads: ["order/{order}"] },
    set_order: { effects: [{ resource: "order/{order}", kind: "update" }] },
    charge: {
      effects: [{ resource: "order/{order}/payment", kind: "charge" }],
      time_limit_ms: 5 * MINUTE,
    },
    send_mail: {
      input_schema: {
        type: "object",
        properties: { to: { type: "string" }, text: { type: "string" } },
        required: ["to"],
      },
    },
    create_note: {},
    delete_order: { effects: [{ resource: "order/{order}", kind: "delete" }] },
    delete_note: {},
    purge_orders: {},
    slow_write: { time_limit_ms: 3 * HOUR },
  },
};

async function playReadsAndWrites(story: StoryRun): Promise<void> {
  await story.done("forgotten", "north/old", "set_order", { order: 1, to: "open" });
  await story.done("read-1", "north/orders", "get_order", { order: 7 }, '{"state":"open"}');
  await story.call("read-again", "north/orders", "get_order", { order: 7 });
  await story.done("write-1", "north/orders", "set_order", { order: 7, to: "paid" });
  await story.call("write-again", "north/orders", "set_order", { to: "paid", order: 7 });
  await story.again("write-1");
  await story.call("read-fresh", "north/orders", "get_order", { order: 7 });
  await story.call("read-rate", "north/orders", "get_order", { order: 8 });
  await story.result("read-rate", "not_executed");
  await story.call("read-over-rate", "north/orders", "get_order", { order: 9 });
  await story.call("write-elsewhere", "south/orders", "set_order", { order: 7, to: "paid" });
  await story.call("write-1", "north/orders", "set_order", { order: 7, to: "lost" });
  await story.call("broken", "north/orders", "send_mail", '{"to":1');
  await story.call("wrong", "north/orders", "send_mail", { text: "hello" });
  await story.call("unheard", "north/orders", "unheard_of", {});
  await story.call("never", "south/orders", "purge_orders", {});
}

async function playOutcomes(story: StoryRun): Promise<void> {
  await story.call("charge-1", "north/money", "charge", { order: 7, amount: 10 });
  await story.call("charge-in-flight", "north/money", "charge", { order: 7, amount: 10 });
  await story.result("charge-1", "unknown");
  await story.call("charge-unknown", "north/money", "charge", { order: 7, amount: 10 });
  await story.verdict("reconcile", { callId: "charge-1" }, { outcome: "succeeded" });
  await story.call("charge-other", "north/money", "charge", { order: 7, amount: 11 });
  await story.call("mail-failed", "north/money", "send_mail", { to: "ann" });
  await story.result("mail-failed", "failed");
  await story.call("mail-retry", "north/money", "send_mail", { to: "ann" });
  await story.result("mail-retry", "succeeded");
  await story.result("mail-retry", "succeeded");
  await story.call("mail-late", "south/money", "charge", { order: 9, amount: 1 });
  await story.result("mail-late", "started", { durationMs: null });
  story.after(20 * MINUTE);
  await story.tick();
  await story.result("mail-late", "succeeded");
}

async function playLoops(story: StoryRun): Promise<void> {
  story.nextTurn();
  for (const n of [1, 2]) await story.done(`peek-${n}`, "north/loop", "peek", { at: "x" });
  for (const n of [3, 4]) await story.call(`peek-${n}`, "north/loop", "peek", { at: "x" });
  for (const n of [1, 2, 3, 4, 5]) {
    await story.done(`round-${n}`, "north/rounds", "peek", { at: n % 2 });
  }
  await story.call("round-6", "north/rounds", "peek", { at: 0 });
  for (const n of [1, 2, 3, 4]) {
    await story.call(`fail-${n}`, "south/loop", "slow_write", { part: 1 });
    if (n < 4) await story.result(`fail-${n}`, "failed");
  }
  for (const n of [1, 2]) await story.done(`note-${n}`, "south/notes", "create_note", { n });
  await story.call("note-3", "south/notes", "create_note", { n: 3 });
}

async function playHolds(story: StoryRun): Promise<void> {
  story.nextTurn();
  await story.call("approved", "north/orders", "delete_order", { order: 70 });
  await story.call("while-held", "north/orders", "set_order", { order: 70, to: "open" });
  await story.verdict("approve", { callId: "approved" });
  await story.result("approved", "succeeded");
  await story.call("denied", "north/orders", "delete_order", { order: 71 });
  await story.verdict("deny", { callId: "denied" }, { reason: "keep it" });
  await story.verdict("approve", { callId: "denied" });
  await story.call("expired", "south/orders", "delete_note", { note: 1 });
  story.after(11 * MINUTE);
  await story.tick();
  await story.again("expired");
}

/** No gate runs for hours while calls wait, so the tick comes after them. */
async function playSilence(story: StoryRun): Promise<void> {
  await story.call("silent-1", "north/silent", "set_order", { order: 80 });
  await story.call("silent-2", "north/silent", "set_order", { order: 81 });
  story.after(3 * HOUR);
  await story.call("silent-3", "north/silent", "set_order", { order: 82 });
  await story.tick();
  await story.result("silent-1", "succeeded");
  await story.result("silent-3", "succeeded");
}

async function playOddInputs(story: StoryRun): Promise<void> {
  await story.input("results", "north/orders", Uint8Array.of(0xc3, 0x01, 1, 2, 3));
  await story.input("proposals", "north/orders", new TextEncoder().encode("no proposal"));
  for (let n = 0; n < 8; n += 1) {
    await story.call(`budget-${n}`, "north/budget", "look", { page: n });
  }
}

/** What later versions continue from: an executed write, one in flight, and a held call. */
async function playEnd(story: StoryRun): Promise<void> {
  story.after(6 * HOUR);
  story.nextTurn();
  await story.tick();
  await story.call("fresh-after-idle", "north/old", "set_order", { order: 1, to: "open" });
  await story.done("last-write", "north/mail", "send_mail", { to: "bob", text: "bye" });
  await story.call("refused", "north/last", "purge_orders", {});
  await story.call("under-way", "north/last", "slow_write", { part: 2 });
  await story.call("waiting", "south/last", "delete_note", { note: 2 });
}

export const FIRST_STORY: Story = {
  document: FIRST_DOCUMENT,
  play: async (story) => {
    await playReadsAndWrites(story);
    await playOutcomes(story);
    await playLoops(story);
    await playHolds(story);
    await playSilence(story);
    await playOddInputs(story);
    await playEnd(story);
    await story.toHashRecord("south/rest");
  },
};
