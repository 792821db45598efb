// The first story with the additions of version 2 of the schemas: retries, seconds and money, near
// duplicates, edges, confirmations, two approvals, and verdicts that grant, revoke, cancel, end and
// resume.
import type { PolicyDocument } from "../../../services/core/policy/document.ts";
import { FIRST_DOCUMENT, FIRST_STORY } from "./first-story.ts";
import type { Story, StoryRun } from "./story-run.ts";

const MINUTE = 60_000;

const SECOND_DOCUMENT: PolicyDocument = {
  ...FIRST_DOCUMENT,
  checks: { near_duplicate: "enforce" },
  budgets: {
    ...FIRST_DOCUMENT.budgets,
    per_conversation: { max_seconds: 7_200, max_spend: { amount: "2", currency: "USD" } },
  },
  authorization: {
    tiers: [
      ...(FIRST_DOCUMENT.authorization?.tiers ?? []),
      {
        name: "given",
        pattern: "publish_*",
        action: "per_conversation_grant",
        ceiling: 9,
        granted_by: "verdict",
      },
      {
        name: "by-two",
        pattern: "wire_*",
        action: "hitl",
        approvals: 2,
        require_reason: true,
        expires_ms: 10 * MINUTE,
      },
    ],
  },
  edges: { contains: [["album/{album}", "cover/{album}"]] },
  tool_schemas: {
    ...FIRST_DOCUMENT.tool_schemas,
    fetch_page: {
      read_only: true,
      retries: { max_attempts: 2, retryable_status: [503], backoff_ms: [1_000, 60_000] },
    },
    post: { similarity: [{ field: "text", threshold: 0.6 }] },
    drop_album: { effects: [{ resource: "album/{album}", kind: "delete" }] },
    drop_cover: { effects: [{ resource: "cover/{album}", kind: "delete" }] },
    publish_page: {},
    wire_money: {},
    rent: {},
  },
};

async function playRetriesAndCosts(story: StoryRun): Promise<void> {
  const busy = { code: "503", message: "busy", retryable: true };
  await story.call("page-1", "north/pages", "fetch_page", { url: "a" });
  await story.result("page-1", "failed", { error: busy });
  await story.call("page-2", "north/pages", "fetch_page", { url: "a" });
  await story.result("page-2", "failed", { error: busy });
  await story.call("page-3", "north/pages", "fetch_page", { url: "a" });
  const cost = (units: number) => ({ microUnits: units * 100_000, currency: "USD" });
  await story.call("rent-1", "north/costs", "rent", { room: 1 }, { estimatedCost: cost(8) });
  await story.result("rent-1", "succeeded", { cost: cost(9) });
  await story.call("rent-2", "north/costs", "rent", { room: 2 }, { estimatedCost: cost(8) });
  await story.result("rent-2", "not_executed");
  await story.call("rent-3", "north/costs", "rent", { room: 3 }, { estimatedCost: cost(12) });
}

async function playLikeness(story: StoryRun): Promise<void> {
  const text = "all the words of a longer text that is posted to everybody who reads along here";
  await story.done("post-1", "north/posts", "post", { text });
  await story.call("post-2", "north/posts", "post", { text: `${text} today` });
  await story.call("post-3", "north/posts", "post", { text }, { confirmation: "yes-1" });
  await story.result("post-3", "succeeded");
  await story.done("cover", "north/albums", "drop_cover", { album: 1 });
  await story.call("album", "north/albums", "drop_album", { album: 1 });
}

async function playVerdicts(story: StoryRun): Promise<void> {
  const conversationKey = "south/given";
  await story.call("page-early", conversationKey, "publish_page", { page: 1 });
  await story.verdict("grant", { conversationKey }, { tier: "given", calls: 2 });
  await story.done("page-given", conversationKey, "publish_page", { page: 2 });
  await story.verdict("revoke", { conversationKey }, { tier: "given" });
  await story.call("page-revoked", conversationKey, "publish_page", { page: 3 });
  await story.call("wire", "south/wires", "wire_money", { to: "ann" });
  await story.verdict("approve", { callId: "wire" });
  await story.verdict("approve", { callId: "wire" }, { reason: "agreed" });
  await story.verdict("approve", { callId: "wire" }, { reason: "agreed too", by: "bob" });
  await story.result("wire", "succeeded");
  await story.call("wire-2", "south/wires", "wire_money", { to: "bob" });
  await story.verdict("cancel", { callId: "wire-2" }, { reason: "not needed" });
  await story.verdict("end", { conversationKey });
  await story.call("ended", conversationKey, "look", { n: 1 });
  await story.verdict("resume", { conversationKey });
  await story.call("resumed", conversationKey, "look", { n: 1 });
}

export const SECOND_STORY: Story = {
  document: SECOND_DOCUMENT,
  play: async (story) => {
    await playRetriesAndCosts(story);
    await playLikeness(story);
    await playVerdicts(story);
    await FIRST_STORY.play(story);
  },
};
