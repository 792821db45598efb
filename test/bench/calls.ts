/** Seeded tool calls with arguments of about 240 bytes of five tools that read and five that write, and a policy. */
import type { ProposalInput } from "../../services/core/inputs.ts";

const WORDS =
  "order refund invoice customer shipping delayed please update address account billing review".split(
    " ",
  );

type Shape = (n: (most: number) => number, text: (words: number) => string) => object;

const READS: Readonly<Record<string, Shape>> = {
  search_docs: (n, text) => ({
    query: text(8),
    filters: { section: "billing", locale: "en-GB" },
    limit: 10,
    offset: 10 * n(40),
    note: text(18),
  }),
  read_file: (n, text) => ({
    path: `reports/2026/q${1 + n(4)}/${n(1e6)}.md`,
    encoding: "utf8",
    range: { start: n(500), end: 500 + n(500) },
    note: text(20),
  }),
  list_orders: (n, text) => ({
    customerId: `cus_${n(1e9)}`,
    status: ["open", "paid"],
    createdAfter: "2026-01-01T00:00:00Z",
    pageSize: 25,
    note: text(16),
  }),
  get_customer: (n, text) => ({
    customerId: `cus_${n(1e9)}`,
    include: ["orders", "addresses", "notes"],
    note: text(20),
  }),
  run_query: (n, text) => ({
    database: "analytics",
    statement: `SELECT id, total FROM orders WHERE customer_id = ${n(1e9)} AND total > ${n(900)}`,
    timeoutMs: 5000,
    note: text(12),
  }),
};

const WRITES: Readonly<Record<string, Shape>> = {
  create_ticket: (n, text) => ({
    title: text(5),
    priority: "high",
    customerId: `cus_${n(1e9)}`,
    labels: ["billing", "refund"],
    estimate: 1.5,
    note: text(16),
  }),
  update_order: (n, text) => ({
    orderId: `ord_${n(1e9)}`,
    patch: { note: text(6), quantity: 1 + n(9) },
    ifVersion: n(50),
    notify: true,
    note: text(14),
  }),
  send_email: (n, text) => ({
    to: `user${n(1e6)}@example.com`,
    subject: text(4),
    body: text(20),
    attachments: [],
  }),
  charge_card: (n, text) => ({
    customerId: `cus_${n(1e9)}`,
    amount: n(1000),
    currency: "EUR",
    description: text(14),
    capture: true,
  }),
  delete_file: (n, text) => ({
    path: `reports/2026/old-${n(1e9)}.md`,
    recursive: false,
    reason: text(18),
  }),
};

/** Two reads to a write: of a conversation of 100,000 calls no more writes are remembered, and later ones refused. */
const SHAPES = [READS, WRITES, READS].flatMap((shapes) => Object.entries(shapes));

export const BENCH_POLICY = {
  preset: "balanced",
  tool_schemas: {
    search_docs: { read_only: true },
    read_file: { read_only: true, reads: ["file/{path}"] },
    list_orders: { read_only: true },
    get_customer: { read_only: true, reads: ["customer/{customerId}"] },
    create_ticket: { effects: [{ resource: "ticket", kind: "update" }] },
    update_order: { effects: [{ resource: "order/{orderId}", kind: "update" }] },
    run_query: { read_only: true },
    send_email: { effects: [{ resource: "mail/{to}", kind: "send", exclusive: false }] },
    charge_card: { effects: [{ resource: "customer/{customerId}/charge", kind: "update" }] },
    delete_file: { effects: [{ resource: "file/{path}", kind: "delete", exclusive: false }] },
  },
} as const;

function generator(seed: number): () => number {
  let a = seed >>> 0;
  return () => {
    a = (a + 0x6d2b79f5) >>> 0;
    let t = Math.imul(a ^ (a >>> 15), a | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

/** Seeded numbers below a bound, and texts of a given number of words. */
export function seededArguments() {
  const next = generator(7);
  const n = (most: number) => Math.floor(next() * most);
  const text = (words: number) =>
    Array.from({ length: words }, () => WORDS[n(WORDS.length)]).join(" ");
  return { n, text };
}

/**
 * The i-th call of a conversation. Its texts exist beforehand, so that the bench does not time
 * their making.
 */
export function benchCalls(length: number): (at: number, round: number) => ProposalInput {
  const { n, text } = seededArguments();
  const texts = Array.from({ length: Math.max(Math.min(length, 100_000), 10) }, (_, i) => {
    const [tool, shape] = SHAPES[i % SHAPES.length] as (typeof SHAPES)[number];
    return { tool, arguments: JSON.stringify(shape(n, text)) };
  });
  return (at, round) => {
    const call = texts[at % texts.length] as { tool: string; arguments: string };
    return {
      type: "proposal",
      tenantId: "default",
      conversationId: `conversation-${round}`,
      callId: `call_${at}`,
      agentId: "agent-7",
      turn: "1",
      step: String(at),
      tool: call.tool,
      arguments: call.arguments,
      assistantText: null,
      estimatedCost: null,
      confirmation: null,
      rejected: null,
    };
  };
}
