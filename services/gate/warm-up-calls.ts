/**
 * The made-up calls that a gate warms up with: of the kinds that agents make, but no real ones.
 * They also differ from the calls of the Kafka benchmark, which would otherwise measure how well
 * they were guessed.
 */

import type { JsonObject } from "../core/canonical/json-value.ts";
import type { Envelope } from "../wire/proposal.ts";

type Call = { readonly tool: string; readonly arguments: JsonObject };

const TENANT = "warm-up";
const CONVERSATIONS = 250;
/** One of so many calls repeats its conversation's previous call. */
const REPEAT_EVERY = 7;
const WORDS = ["blocked by the release", "see the log of last night", "wording agreed with legal"];

/** The policy that judges them; their arguments are made below. */
export const WARM_UP_POLICY = {
  preset: "balanced",
  tool_schemas: {
    list_issues: { read_only: true },
    create_event: {},
    transfer: {},
    comment: {},
    set_flag: {},
  },
};

const MAKERS: readonly ((id: number, words: string) => Call)[] = [
  (id) => ({
    tool: "list_issues",
    arguments: {
      repository: `acme/site-${id % 40}`,
      labels: ["bug", "ui"],
      page: id,
      closed: false,
    },
  }),
  (id, words) => ({
    tool: "create_event",
    arguments: {
      title: `Review ${id}`,
      start: "2026-03-02T09:30:00Z",
      minutes: 15 + (id % 4) * 15,
      guests: [`g${id}@example.com`, "lead@example.com"],
      agenda: `1. ${words}\n2. next steps`,
    },
  }),
  (id, words) => ({
    tool: "transfer",
    arguments: { to: `DE${id}`, from: "DE12500105170648489890", cents: 100 + id, memo: words },
  }),
  (id, words) => ({
    tool: "comment",
    arguments: { issue: id, text: `**Update**: ${words}. Will look again tomorrow.`, notify: true },
  }),
  (id) => {
    const value = { enabled: id % 2 === 0, share: (id % 100) / 100, owner: null };
    return { tool: "set_flag", arguments: { service: "checkout", flag: `flag-${id}`, value } };
  },
];

/** The n-th call, from 0 on; the same number gives the same call. */
export function warmUpProposal(n: number): Envelope {
  const at = n % CONVERSATIONS;
  const round = Math.floor(n / CONVERSATIONS);
  const isRepeat = (n + round) % REPEAT_EVERY === 0;
  const id = (isRepeat ? round - 1 : round) * CONVERSATIONS + at + CONVERSATIONS;
  const words = WORDS[id % WORDS.length] as string;
  const call = (MAKERS[id % MAKERS.length] as (typeof MAKERS)[number])(id, words);
  return {
    ...{ tenantId: TENANT, conversationId: `warm-up-${at}`, callId: `call-${n}`, agentId: null },
    ...{ turn: String(1 + Math.floor(round / 6)), step: String(round), tool: call.tool },
    arguments: JSON.stringify(call.arguments),
    ...{ assistantText: null, estimatedCost: null, confirmation: null },
  };
}

/** The same call as JSON, as a platform without Avro writes it. */
export function warmUpJson(n: number): Uint8Array {
  const { tenantId, conversationId, callId, turn, step, tool, arguments: text } = warmUpProposal(n);
  const head = JSON.stringify({ tenantId, conversationId, callId, turn, step, tool });
  return Buffer.from(`${head.slice(0, -1)},"arguments":${String(text)}}`);
}
