/** The calls that a gate warms up with: of the kinds that agents make, and none of anybody. */
import type { Envelope } from "../adapters/avro/envelope.ts";
import type { JsonObject } from "../core/canonical/json-value.ts";

type Call = { readonly tool: string; readonly arguments: JsonObject };

const TENANT = "warm-up";
const CONVERSATIONS = 250;
/** Every so many calls one is like its conversation's call before. */
const REPEAT_EVERY = 5;
const NOTES = ["the customer asked for it", "second attempt, the first was declined", "as agreed"];

/** The policy they are judged by; their arguments are made below. */
export const WARM_UP_POLICY = {
  preset: "balanced",
  tool_schemas: { search: { read_only: true }, pay: {}, send: {}, write_file: {}, update: {} },
};

const MAKERS: readonly ((id: number, note: string) => Call)[] = [
  (id, note) => {
    const filters = { from: "2026-01-02", city: "LHR", open: true };
    return { tool: "search", arguments: { query: `${note} ${id}`, filters, limit: 20, offset: 0 } };
  },
  (id, note) => {
    const customer = { id: `cus_${id}`, city: "FRA" };
    const money = { amount: (id % 90_000) / 100, currency: "EUR" };
    return { tool: "pay", arguments: { order_id: `#${id}`, ...money, reason: note, customer } };
  },
  (id, note) => ({
    tool: "send",
    arguments: {
      to: `person_${id}@example.test`,
      subject: `Case ${id}`,
      body: `${note}; ${note}`,
      urgent: id % 5 === 0,
    },
  }),
  (id, note) => ({
    tool: "write_file",
    arguments: { path: `reports/case-${id}.md`, content: `# Case\n\n${note}\n`, mode: "overwrite" },
  }),
  (id, note) => {
    const payment = { method: "card", amount: id % 500 };
    const items = [4_000_000_000 + id, 5_000_000_000 + id];
    return { tool: "update", arguments: { order_id: `#${id}`, items, payment, note } };
  },
];

/** The n-th call, from 0 on: the same for the same number. */
export function warmUpProposal(n: number): Envelope {
  const at = n % CONVERSATIONS;
  const round = Math.floor(n / CONVERSATIONS);
  const isRepeat = (n + round) % REPEAT_EVERY === 0;
  const id = (isRepeat ? round - 1 : round) * CONVERSATIONS + at + CONVERSATIONS;
  const note = NOTES[id % NOTES.length] as string;
  const call = (MAKERS[id % MAKERS.length] as (typeof MAKERS)[number])(id, note);
  return {
    ...{ tenantId: TENANT, conversationId: `warm-up-${at}`, callId: `call-${n}`, agentId: null },
    ...{ turn: String(1 + Math.floor(round / 8)), step: String(round), tool: call.tool },
    arguments: JSON.stringify(call.arguments),
    ...{ assistantText: null, estimatedCost: null, confirmation: null },
  };
}

/** The same as a platform without Avro writes it. */
export function warmUpJson(n: number): Uint8Array {
  const { tenantId, conversationId, callId, turn, step, tool, arguments: text } = warmUpProposal(n);
  const head = JSON.stringify({ tenantId, conversationId, callId, turn, step, tool });
  return Buffer.from(`${head.slice(0, -1)},"arguments":${String(text)}}`);
}
