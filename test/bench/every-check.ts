/**
 * Two policies for one stream of calls: one that switches on every check there is, and one that only
 * says which tools read and which write. No call is refused: what a check costs that finds nothing is
 * what nearly every call pays.
 */
import type { ProposalInput } from "../../services/core/inputs.ts";
import { isAlwaysEnforced, REASON_CODES } from "../../services/core/reasons/reasons.ts";
import { seededArguments } from "./calls.ts";

const CURRENCY = "EUR";
/** More than 100,000 calls use, so that the gate checks each budget and exhausts none. */
const MOST = { max_steps: 1_000_000, max_tool_calls: 1_000_000, max_seconds: 1_000_000 };
const LIMITS = { ...MOST, max_spend: { amount: "100000000.00", currency: CURRENCY } };

/** Longer than 100,000 calls take at one a second. */
const TWO_DAYS_MS = 172_800_000;

const text = { type: "string" } as const;

function schema(properties: object, required: readonly string[]): object {
  return { type: "object", properties, required, additionalProperties: false };
}

/** Every optional check is off. Tools are declared, since otherwise all of them would be writes. */
export const NO_CHECK_POLICY = {
  preset: "balanced",
  escalation: { ask: "off", options: "off", user_input: "off", end: "off" },
  acknowledgement: { mode: "off" },
  checks: Object.fromEntries(
    REASON_CODES.filter((code) => !isAlwaysEnforced(code)).map((code) => [code, "off"]),
  ),
  tool_schemas: {
    search_docs: { read_only: true },
    get_customer: { read_only: true },
    list_orders: { read_only: true },
    read_file: { read_only: true },
    run_query: { read_only: true },
    update_order: { read_only: false },
    create_file: { read_only: false },
    delete_file: { read_only: false },
    send_email: { read_only: false },
    charge_card: { read_only: false },
    transfer_funds: { read_only: false },
  },
} as const;

export const EVERY_CHECK_POLICY = {
  preset: "strict",
  checks: Object.fromEntries(
    REASON_CODES.filter((code) => !isAlwaysEnforced(code)).map((code) => [code, "enforce"]),
  ),
  deduplication: {
    window_ms: 300_000,
    cache_ttl_ms: 60_000,
    loop_threshold: { same_output: 3, any_output: 10 },
  },
  tool_deduplication: { no_progress_threshold: 3, append_system_note: true },
  budgets: { ...LIMITS, per_conversation: LIMITS, per_tool: LIMITS },
  tools: {
    retries: { max_attempts: 3, retryable_status: [429, 503], backoff_ms: [1_000, 60_000] },
  },
  escalation: { ask: 1, options: 2, user_input: 3, end: 4 },
  acknowledgement: { mode: "explicit" },
  conversation: { max_age_ms: TWO_DAYS_MS, idle_ms: TWO_DAYS_MS },
  kill: { tools: ["drop_*"], agents: ["agent-666"], tenants: ["nobody"] },
  authorization: {
    tiers: [
      {
        name: "reads",
        pattern: "search_*|get_*|list_*|read_*",
        action: "allowlist",
        rate_limit: "100/min",
      },
      {
        name: "writes",
        pattern: "create_*|update_*|send_*|charge_*|delete_*|run_*",
        action: "per_conversation_grant",
        ceiling: 1_000_000,
      },
      {
        name: "transfers",
        pattern: "transfer_*",
        action: "hitl",
        require_reason: true,
        // As long as the conversation, so that the hold exists at each call.
        expires_ms: TWO_DAYS_MS,
      },
    ],
  },
  aliases: [
    { resource: "order/{id}", names: ["update_order.orderId", "charge_card.orderId"] },
    { resource: "customer/{id}", names: ["get_customer.customerId", "charge_card.customerId"] },
  ],
  edges: {
    contains: [["shelf/{folder}/{name}", "file/{folder}/{name}"]],
    derives: [["file/{folder}/{name}", "document/{folder}/{name}"]],
  },
  tool_schemas: {
    search_docs: {
      read_only: true,
      input_schema: schema({ query: text, limit: { type: "integer" }, note: text }, ["query"]),
      normalizers: { query: ["trim", "collapse_space", "to_lower"] },
      volatile_output: ["$.took_ms"],
      error_patterns: ["^Error:"],
      frequency: "60/min",
    },
    get_customer: {
      reads: ["customer/{id}"],
      input_schema: schema({ customerId: text, include: { type: "array" }, note: text }, [
        "customerId",
      ]),
      normalizers: { customerId: ["trim", "to_lower"], include: ["sort", "unique"] },
      frequency: "60/min",
    },
    list_orders: {
      read_only: true,
      volatile: true,
      polling: { min_interval_ms: 1, max_calls: 1_000 },
      input_schema: schema(
        {
          status: { type: "array" },
          createdAfter: text,
          pageSize: { type: "integer" },
          note: text,
        },
        ["status"],
      ),
      normalizers: { createdAfter: "datetime", status: ["sort", "unique"] },
    },
    read_file: {
      reads: ["file/{folder}/{name}"],
      input_schema: schema({ folder: text, name: text, note: text }, ["folder", "name"]),
      normalizers: { folder: "path", name: "trim" },
    },
    run_query: {
      input_schema: schema({ database: text, statement: text, note: text }, ["statement"]),
      commands: { language: "sql", argument: "statement" },
    },
    update_order: {
      risk_level: "MEDIUM",
      effects: [{ resource: "order/{id}", kind: "update" }],
      input_schema: schema({ orderId: text, quantity: { type: "integer" }, note: text }, [
        "orderId",
      ]),
      normalizers: { orderId: "trim", quantity: "to_int" },
    },
    create_file: {
      risk_level: "MEDIUM",
      effects: [{ resource: "file/{folder}/{name}", kind: "create" }],
      input_schema: schema({ folder: text, name: text, content: text }, ["folder", "name"]),
      normalizers: { folder: "path", name: "trim" },
      similarity: [{ field: "content", threshold: 0.9 }],
      suggest: ["read_file"],
    },
    delete_file: {
      effects: [{ resource: "file/{folder}/{name}", kind: "delete" }],
      input_schema: schema({ folder: text, name: text, reason: text }, ["folder", "name"]),
      normalizers: { folder: "path", name: "trim" },
    },
    send_email: {
      effects: [{ resource: "mail/{to}", kind: "send", exclusive: false }],
      input_schema: schema({ to: text, subject: text, body: text }, ["to", "body"]),
      normalizers: { to: "email", subject: ["trim", "nfc"] },
      similarity: [{ field: "body", threshold: 0.9, with: ["to"] }],
      // The gate remembers a whole window of times.
      frequency: "1000/h",
    },
    charge_card: {
      canonical_fields: ["orderId", "amount", "currency", "customerId"],
      normalizers: { amount: ["decimal", "minor_units(currency)"], currency: ["trim", "to_upper"] },
      effects: [{ resource: "order/{id}/payment", kind: "charge", exclusive: false }],
      input_schema: schema(
        { orderId: text, customerId: text, amount: text, currency: text, description: text },
        ["orderId", "amount", "currency", "customerId"],
      ),
    },
    transfer_funds: {
      effects: [{ resource: "account/{account}", kind: "transfer" }],
      input_schema: schema({ account: text }, ["account"]),
    },
  },
} as const;

/** Files that are created and deleted in turn, since the number of effects in force is bounded. */
const FILES = 512;

interface Call {
  readonly tool: string;
  readonly arguments: object;
}

/**
 * Eighteen calls with two mails in a row: only then does the gate compare their texts. A third of the calls
 * are writes: a conversation of 100,000 calls has no more remembered writes, and later ones are refused.
 */
function cycle(at: number, { n, text }: ReturnType<typeof seededArguments>): readonly Call[] {
  const file = (index: number) => ({ folder: `reports-${index % 4}`, name: `${index % FILES}.md` });
  const mail = (to: string) => ({ to, subject: text(4), body: text(20) });
  const to = `user${n(1e6)}@example.com`;
  const customerId = `cus_${n(1e9)}`;
  const orderId = `ord_${n(1e9)}`;
  const search = (limit: number) => {
    return { tool: "search_docs", arguments: { query: text(8), limit, note: text(18) } };
  };
  const read = () => {
    return { tool: "read_file", arguments: { ...file(n(FILES)), note: text(24) } };
  };
  const customer = () => {
    const args = { customerId: `cus_${n(1e9)}`, include: ["orders"], note: text(20) };
    return { tool: "get_customer", arguments: args };
  };
  return [
    search(10),
    { tool: "get_customer", arguments: { customerId, include: ["orders"], note: text(20) } },
    {
      tool: "list_orders",
      arguments: {
        status: ["open", "paid"],
        createdAfter: "2026-01-01T00:00:00Z",
        pageSize: 25,
        note: text(16),
      },
    },
    { tool: "send_email", arguments: mail(to) },
    { tool: "send_email", arguments: mail(to) },
    read(),
    { tool: "create_file", arguments: { ...file(at), content: text(24) } },
    {
      tool: "run_query",
      arguments: {
        database: "analytics",
        statement: `SELECT id, total FROM orders WHERE customer_id = ${n(1e9)} AND total > ${n(900)}`,
        note: text(12),
      },
    },
    customer(),
    search(15),
    { tool: "update_order", arguments: { orderId, quantity: 1 + n(9), note: text(20) } },
    read(),
    customer(),
    {
      tool: "charge_card",
      arguments: {
        orderId,
        customerId,
        amount: `${1 + n(900)}.50`,
        currency: "eur",
        description: text(14),
      },
    },
    { tool: "delete_file", arguments: { ...file(at + FILES / 2), reason: text(18) } },
    customer(),
    read(),
    search(20),
  ];
}

/** The parts that every call of the stream shares, without name and arguments. */
function proposal(round: number, callId: string, step: number, { tool, ...call }: Call) {
  return {
    type: "proposal",
    tenantId: "default",
    conversationId: `conversation-${round}`,
    callId,
    agentId: "agent-7",
    turn: "1",
    step: String(step),
    tool,
    // Texts made from bytes, as they arrive: those of JSON.stringify are still in parts, which
    // their first reader joins.
    arguments: Buffer.from(JSON.stringify(call.arguments)).toString(),
    assistantText: "Then I will look at the next one.",
    estimatedCost: { microUnits: 1_500, currency: CURRENCY },
    confirmation: null,
    rejected: null,
  } as const satisfies ProposalInput;
}

/** The i-th call of a conversation. It exists beforehand. */
export function everyCheckCalls(length: number): (at: number, round: number) => ProposalInput {
  const seeded = seededArguments();
  const calls: Call[] = [];
  for (let at = 0; calls.length < length; at += 1) calls.push(...cycle(at, seeded));
  const made = calls.slice(0, length).map((call, at) => proposal(0, `call_${at}`, at, call));
  return (at, round) => {
    const call = made[at % made.length] as ProposalInput;
    return { ...call, conversationId: `conversation-${round}` };
  };
}

/** A held call that waits for a person from before the first call to after the last. */
export function heldCall(round: number): ProposalInput {
  const call = { tool: "transfer_funds", arguments: { account: "savings" } };
  return proposal(round, "held", -1, call);
}
