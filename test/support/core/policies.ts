// Policies for random histories, each with the tools that its histories use. Together they use
// every part of the vocabulary that a check reads; limits are small, so that short histories reach
// them.
import type { PolicyDocument, ToolDocument } from "../../../services/core/policy/document.ts";

export interface Subject {
  readonly name: string;
  readonly document: PolicyDocument;
  readonly tools: readonly string[];
  /** Argument texts that replace the common ones. */
  readonly arguments?: readonly string[];
}

/**
 * Texts that are almost equal, and others; the last two are longer than a sketch can hold whole.
 */
const SHORT = Array.from({ length: 24 }, (_, n) => `word${n}`);
const LONG = Array.from({ length: 420 }, (_, n) => `w${n}`);
const TEXTS = [
  { id: "1", text: SHORT.join(" ") },
  { id: "1", text: [...SHORT, "more"].join(" ") },
  { id: "2", text: SHORT.with(0, "other").join(" ") },
  { id: "1", text: SHORT.toReversed().join(" ") },
  { id: "1", text: LONG.join(" ") },
  { id: "1", text: LONG.with(99, "other").join(" ") },
];

const read: ToolDocument = { read_only: true };

const DECLARED: PolicyDocument["tool_schemas"] = {
  get_order: { read_only: true, reads: ["order/{id}"] },
  get_orders: { read_only: true, reads: ["order"] },
  get_item: { read_only: true, reads: ["order/{id}/item"] },
  set_order: { effects: [{ resource: "order/{id}", kind: "update" }] },
  make_order: { effects: [{ resource: "order/{id}", kind: "create" }] },
  drop_order: { effects: [{ resource: "order/{id}", kind: "delete" }] },
  charge: { effects: [{ resource: "order/{id}", kind: "charge" }], repeatable: true },
};

export const SUBJECTS: readonly Subject[] = [
  {
    name: "balanced, nothing but reads and writes",
    document: { tool_schemas: { look: read, write: {}, erase: {} } },
    tools: ["look", "write", "erase", "unheard_of"],
  },
  {
    name: "declared effects and reads",
    document: { tool_schemas: DECLARED },
    tools: [
      "get_order",
      "get_orders",
      "get_item",
      "set_order",
      "make_order",
      "drop_order",
      "charge",
    ],
  },
  {
    name: "special tools",
    document: {
      deduplication: { window_ms: 60_000, cache_ttl_ms: 30_000 },
      idempotency: { ttl_ms: 120_000 },
      tool_schemas: {
        poll: { polling: { min_interval_ms: 1_000, max_calls: 4 } },
        watch: { volatile: true },
        repeat: { repeatable: true },
        batch: { batchable: true },
        toggle: { input_schema: { type: "object", properties: {}, additionalProperties: false } },
        often: { frequency: { count: 3, windowMs: 30_000 }, read_only: true },
        search: { read_only: true, volatile_output: ["$.ms"], error_patterns: ["^Sorry"] },
        ask_user: {},
      },
    },
    tools: ["poll", "watch", "repeat", "batch", "toggle", "often", "search", "ask_user"],
  },
  {
    name: "tiers of every action",
    document: {
      idempotency: { ttl_ms: 600_000 },
      unknown_tools: "ask",
      authorization: {
        tiers: [
          {
            name: "reads",
            pattern: "get_*",
            action: "allowlist",
            rate_limit: { count: 3, windowMs: 60_000 },
          },
          {
            name: "few",
            pattern: "create_*",
            action: "per_conversation_grant",
            ceiling: 2,
            ttl_ms: 600_000,
          },
          {
            name: "more",
            pattern: "update_*",
            action: "per_conversation_grant",
            ceiling: 1,
            on_exceeded: "hitl",
          },
          {
            name: "ask",
            pattern: "delete_*",
            action: "hitl",
            require_reason: true,
            expires_ms: 60_000,
          },
          { name: "never", pattern: "purge_*", action: "deny" },
        ],
      },
      tool_schemas: {
        delete_b: { effects: [{ resource: "b/{id}", kind: "delete" }] },
        get_c: { risk_level: "HIGH", read_only: true },
      },
    },
    tools: ["get_a", "create_a", "update_a", "delete_a", "delete_b", "get_c", "purge_a", "other"],
  },
  {
    name: "budgets",
    document: {
      budgets: {
        max_steps: 3,
        max_tool_calls: 5,
        per_conversation: { max_tool_calls: 9, max_steps: 6 },
        per_tool: { max_tool_calls: 3 },
      },
      authorization: { tiers: [{ name: "ask", pattern: "erase", action: "hitl" }] },
      tool_schemas: { look: read, write: {}, erase: {} },
    },
    tools: ["look", "write", "erase"],
  },
  {
    name: "budgets of seconds and money",
    document: {
      budgets: {
        max_seconds: 60,
        max_spend: { amount: "1.5", currency: "USD" },
        per_conversation: { max_seconds: 1_200, max_spend: { amount: "3", currency: "USD" } },
        per_tool: { max_seconds: 30, max_spend: { amount: "1", currency: "USD" } },
      },
      authorization: { tiers: [{ name: "ask", pattern: "erase", action: "hitl" }] },
      tool_schemas: { look: read, write: {}, erase: {} },
    },
    tools: ["look", "write", "erase"],
  },
  {
    name: "calls that bring nothing new",
    document: {
      preset: "strict",
      unknown_tools: "allow",
      acknowledgement: { mode: "off" },
      escalation: { ask: 1, options: "off", user_input: "off", end: { at: "off", lasts: "turn" } },
      budgets: { max_steps: 500, max_tool_calls: 500, max_seconds: 1_000_000 },
      checks: {
        loop_cycle: "off",
        loop_repeat: "off",
        duplicate_call: "off",
        failure_streak: "off",
      },
      tool_deduplication: { no_progress_threshold: 2 },
      loops: {
        rotation: { calls: 8, keys: 3 },
        failure_run: { same_tool: 3, any: 4 },
        drift: { warn: 2, refuse: 4 },
      },
      deduplication: { loop_threshold: { any_pace: 3 } },
      tool_schemas: {
        look: { ...read, dedupe_window_s: 0 },
        seek: { ...read, cache_ttl_s: 0 },
        write: { repeatable: true, risk_level: "LOW" },
        poll: { polling: {} },
      },
    },
    tools: ["look", "seek", "write", "poll"],
  },
  {
    name: "resources that hang together",
    document: {
      deduplication: { window_ms: 1_000 },
      edges: {
        contains: [["customer/{id}", "order/{id}"]],
        derives: [["order/{id}/payment", "invoice/{id}"]],
      },
      authorization: { tiers: [{ name: "ask", pattern: "move_*", action: "hitl" }] },
      tool_schemas: {
        make_order: { effects: [{ resource: "order/{id}", kind: "create" }] },
        drop_order: { effects: [{ resource: "order/{id}", kind: "delete" }] },
        charge: { effects: [{ resource: "order/{id}/payment", kind: "charge" }] },
        make_invoice: { effects: [{ resource: "invoice/{id}", kind: "create" }] },
        move_customer: { effects: [{ resource: "customer/{id}", kind: "transfer" }] },
        drop_all: { effects: [{ resource: "order", kind: "delete" }], repeatable: true },
        add_item: { effects: [{ resource: "order/{id}/item", kind: "create" }] },
        get_order: { read_only: true, reads: ["order/{id}"] },
        get_orders: { read_only: true, reads: ["order"] },
        get_customer: { read_only: true, reads: ["customer/{id}"] },
        get_invoice: { read_only: true, reads: ["invoice/{id}"] },
      },
    },
    tools: [
      "get_order",
      "get_orders",
      "get_customer",
      "get_invoice",
      "make_order",
      "drop_order",
      "charge",
      "make_invoice",
      "move_customer",
      "drop_all",
      "add_item",
    ],
  },
  {
    name: "resources that only results name",
    document: {
      edges: { contains: [["order/{id}", "invoice/{id}"]] },
      authorization: { tiers: [{ name: "ask", pattern: "ask_*", action: "hitl" }] },
      tool_schemas: {
        make_invoice: { effects: [{ resource: "invoice/{result.id}", kind: "create" }] },
        ask_invoice: { effects: [{ resource: "invoice/{result.id}", kind: "charge" }] },
        set_latest: { effects: [{ resource: "invoice/{result.id}", kind: "update" }] },
        add_item: {
          effects: [
            { resource: "order/{id}", kind: "update" },
            { resource: "order/{id}/item/{result.id}", kind: "send" },
          ],
        },
        drop_invoice: { effects: [{ resource: "invoice/{id}", kind: "delete" }] },
        move_order: { effects: [{ resource: "order/{id}", kind: "transfer" }] },
        get_invoice: { read_only: true, reads: ["invoice/{id}"] },
        find_invoice: { read_only: true, reads: ["invoice/{result.id}"] },
      },
    },
    tools: [
      "make_invoice",
      "ask_invoice",
      "set_latest",
      "add_item",
      "drop_invoice",
      "move_order",
      "get_invoice",
      "find_invoice",
    ],
  },
  {
    name: "a word before going on",
    document: {
      acknowledgement: { mode: "explicit" },
      escalation: { ask: 1, options: 2, user_input: 4, end: { at: 5, lasts: "turn" } },
      tool_schemas: { look: read, write: {}, erase: { dedupe_window_s: 10 } },
    },
    tools: ["look", "write", "erase"],
  },
  {
    name: "several who must approve, and grants by verdict",
    document: {
      authorization: {
        tiers: [
          {
            name: "given",
            pattern: "make_*",
            action: "per_conversation_grant",
            ceiling: 1,
            granted_by: "verdict",
          },
          {
            name: "few",
            pattern: "set_*",
            action: "per_conversation_grant",
            ceiling: 1,
            on_exceeded: "hitl",
          },
          { name: "ask", pattern: "drop_*", action: "hitl", approvals: 2, require_reason: true },
        ],
      },
    },
    tools: ["make_a", "set_a", "drop_a", "make_b"],
  },
  {
    name: "retries",
    document: {
      tools: { retries: { max_attempts: 2, retryable_status: [503] } },
      tool_schemas: {
        look: { ...read, retries: { max_attempts: 4, backoff_ms: [1_000, 1_500] } },
        write: { scope: "turn" },
        erase: { retries: { backoff_ms: [500, 60_000] } },
      },
    },
    tools: ["look", "write", "erase"],
  },
  {
    name: "strict ladder that ends the conversation",
    document: {
      escalation: { ask: 1, options: "off", user_input: 2, end: { at: 3, lasts: "conversation" } },
      tool_schemas: { look: read, write: {}, erase: {} },
    },
    tools: ["look", "write", "erase"],
  },
  {
    name: "ladder that ends the turn",
    document: {
      escalation: { ask: 1, options: 2, user_input: "off", end: { at: 3, lasts: "turn" } },
      deduplication: { loop_threshold: { same_output: "off", any_output: 3 } },
      tool_schemas: { look: { ...read, cache_ttl_s: 0 }, write: {} },
    },
    tools: ["look", "write"],
  },
  {
    name: "observe",
    document: { preset: "observe", tool_schemas: { ...DECLARED, look: read } },
    tools: ["get_order", "make_order", "drop_order", "look", "unheard_of"],
  },
  {
    name: "shadow",
    document: {
      mode: "shadow",
      budgets: { max_tool_calls: 3 },
      tool_schemas: { look: read, write: {}, charge: { ...DECLARED["charge"], repeatable: false } },
      authorization: { tiers: [{ name: "ask", pattern: "erase", action: "hitl" }] },
    },
    tools: ["look", "write", "charge", "erase"],
  },
  {
    name: "warnings",
    document: {
      checks: { duplicate_call: "warn", loop_repeat: "warn", duplicate_in_flight: "shadow" },
      tool_schemas: {
        look: read,
        write: { checks: { duplicate_call: "enforce" } },
        make_order: { ...DECLARED["make_order"], checks: { side_effect_conflict: "warn" } },
        strict: {
          input_schema: {
            type: "object",
            required: ["id"],
            properties: { id: { type: "string" } },
          },
          checks: { invalid_arguments: "warn" },
        },
      },
    },
    tools: ["look", "write", "make_order", "strict"],
  },
  {
    name: "like T1",
    document: {
      deduplication: {
        window_ms: 300_000,
        strategy: "semantic_hash",
        loop_threshold: { same_output: 3, any_output: 3 },
        cache_ttl_ms: 30_000,
        scope: "conversation",
        max_history: 100,
      },
      idempotency: { ttl_ms: 86_400_000 },
      authorization: {
        tiers: [
          { name: "reads", pattern: "get_*|list_*", action: "allowlist" },
          {
            name: "writes",
            pattern: "create_*|update_*",
            action: "per_conversation_grant",
            ceiling: 10,
            ttl_ms: 3_600_000,
          },
          { name: "destructive", pattern: "delete_*", action: "hitl", expires_ms: 900_000 },
        ],
      },
      tool_schemas: {
        create_invoice: {
          risk_level: "MEDIUM",
          canonical_fields: ["id"],
          normalizers: { id: [{ name: "to_upper", arguments: [] }] },
          side_effect_resource: "invoice",
        },
      },
    },
    tools: ["get_invoice", "create_invoice", "update_invoice", "delete_invoice"],
  },
  {
    name: "texts that are almost one",
    document: {
      checks: { near_duplicate: "enforce" },
      tool_schemas: {
        page: { similarity: [{ field: "text", threshold: 0.8, with: ["id"] }] },
        note: {
          similarity: [{ field: "text", threshold: 0.5 }],
          checks: { near_duplicate: "warn" },
        },
        mail: { similarity: [{ field: "text", threshold: 0.9 }], repeatable: true },
        look: { read_only: true },
      },
    },
    tools: ["page", "note", "mail", "look"],
    arguments: TEXTS.map((args) => JSON.stringify(args)),
  },
  {
    name: "like T2: windows and nothing declared",
    document: {
      budgets: { max_steps: 25, max_tool_calls: 12 },
      tools: { dedupe_window_s: 60, cache_ttl_s: 30 },
    },
    tools: ["a", "b"],
  },
  {
    name: "like T3: a turn and nothing declared",
    document: {
      tool_deduplication: {
        enabled: true,
        exact_duplicate_threshold: 1,
        no_progress_threshold: 3,
        append_system_note: true,
      },
    },
    tools: ["a", "b"],
  },
  {
    name: "answers from the second repeat, and nothing declared",
    document: { tool_deduplication: { exact_duplicate_threshold: 2 } },
    tools: ["a", "b"],
  },
  {
    name: "declared resources that are remembered shortly",
    document: {
      idempotency: { ttl_ms: 10_000 },
      deduplication: { window_ms: 10_000, scope: "turn" },
      tool_schemas: {
        ...DECLARED,
        get_order: { ...DECLARED["get_order"], cache_ttl_s: 120 },
        set_order: { ...DECLARED["set_order"], scope: "conversation", dedupe_window_s: 30 },
        charge: { effects: [{ resource: "order/{id}", kind: "charge" }], time_limit_ms: 300_000 },
      },
    },
    tools: ["get_order", "set_order", "make_order", "drop_order", "charge"],
  },
  {
    name: "holds of calls that may be equal",
    document: {
      authorization: {
        tiers: [{ name: "ask", pattern: "*", action: "hitl", expires_ms: 900_000 }],
      },
      tool_schemas: {
        batch: { batchable: true },
        toggle: { input_schema: { type: "object", properties: {}, additionalProperties: false } },
        make_order: { effects: [{ resource: "order/{id}", kind: "create" }] },
        drop_order: { effects: [{ resource: "order/{id}", kind: "delete" }] },
      },
    },
    tools: ["batch", "toggle", "make_order", "drop_order"],
  },
  {
    name: "answers from the second repeat",
    document: {
      tool_deduplication: { exact_duplicate_threshold: 2 },
      tool_schemas: { look: read, write: {} },
    },
    tools: ["look", "write"],
  },
  {
    name: "short lives and small rings",
    document: {
      conversation: { max_age_ms: 3_600_000, idle_ms: 1_000_000 },
      deduplication: { max_history: 8, window_ms: 10_000 },
      idempotency: { ttl_ms: 30_000 },
      loops: { cycle_rounds: 2, failure_streak: { same: 2, transient: 3 } },
      tool_schemas: { look: { ...read, start_within_ms: 500, time_limit_ms: 500 }, write: {} },
    },
    tools: ["look", "write", "unheard_of"],
  },
];
