// For each policy key: two values, and a conversation that they decide differently.
import type { ProposedCall } from "../../../services/client/api/gate-types.ts";
import { BUDGET_KEY_ROWS } from "./budget-key-rows.ts";
import { COMMAND_KEY_ROWS } from "./command-key-rows.ts";
import { CONDITION_KEY_ROWS } from "./condition-key-rows.ts";
import type { KeyRow, KeyStep } from "./key-row.ts";
import { setIn } from "./set-in.ts";

const T: KeyStep = { tool: "t", args: { a: "x" } };
const twice = [T, T];
const read = { tool_schemas: { t: { read_only: true } } };
const write = { tool_schemas: { t: {} } };
const after = (afterMs: number): KeyStep => ({ afterMs });
const turn = (name: number): KeyStep => ({ turn: name });
const many = (count: number, step: (n: number) => KeyStep): readonly KeyStep[] =>
  Array.from({ length: count }, (_, n) => step(n));
const different = (count: number): readonly KeyStep[] =>
  many(count, (n) => ({ tool: "t", args: { n }, output: `out ${n}` }));
/** Different calls that bring one output. */
const drifting = (count: number): readonly KeyStep[] =>
  many(count, (n) => ({ tool: "t", args: { n }, output: "nothing" }));
const cost = (microUnits: number): Partial<ProposedCall> => ({
  estimatedCost: { microUnits, currency: "USD" },
});
const failing = (count: number, code = "503", message = "busy"): readonly KeyStep[] =>
  many(count, () => ({ ...T, fails: { message, code } }));
const tier = (extra: object, pattern = "t"): object => ({
  authorization: { tiers: [{ name: "a", pattern, ...extra }] },
});
const grant = tier({ action: "per_conversation_grant", ceiling: 1 });
const hitl = tier({ action: "hitl", expires_ms: 60_000 });

const row = (
  key: string,
  values: readonly [unknown, unknown],
  base: object,
  steps: readonly KeyStep[],
): KeyRow => ({ key, values, base, steps });

const TOP: readonly KeyRow[] = [
  row("preset", ["observe", "balanced"], write, twice),
  row("mode", ["enforce", "shadow"], write, twice),
  row("unknown_tools", ["deny", "allow"], write, [{ tool: "other" }]),
  row("checks", [{ duplicate_call: "off" }, undefined], write, twice),
  row("deduplication.window_ms", [1_000, 60_000], write, [T, after(5_000), T]),
  row(
    "deduplication.strategy",
    ["semantic_hash", "byte_hash"],
    { tool_schemas: { t: { normalizers: { a: "trim" } } } },
    [T, { tool: "t", args: { a: " x" } }],
  ),
  row("deduplication.spelling", ["strict", "lenient"], write, [
    T,
    { tool: "t", args: { a: "x " } },
  ]),
  row(
    "deduplication.loop_threshold.same_output",
    [2, 4],
    {
      tool_schemas: { t: { repeatable: true } },
    },
    [T, T, T],
  ),
  row(
    "deduplication.loop_threshold.any_output",
    [2, "off"],
    {
      tool_schemas: { t: { repeatable: true } },
    },
    many(3, (n) => ({ ...T, output: `${n}` })),
  ),
  row(
    "deduplication.loop_threshold.any_pace",
    [3, "off"],
    { tool_schemas: { t: { read_only: true, volatile: true } } },
    [T, after(60_000), T, after(60_000), T],
  ),
  row("deduplication.cache_ttl_ms", [1_000, 60_000], read, [T, after(5_000), T]),
  row("deduplication.scope", ["turn", "conversation"], write, [T, turn(2), T]),
  row(
    "deduplication.max_history",
    [8, 64],
    {
      tool_schemas: { t: { read_only: true, volatile: true } },
    },
    [T, T, ...different(10), T],
  ),
  row("tool_deduplication.enabled", [false, true], {}, twice),
  row("tool_deduplication.exact_duplicate_threshold", [1, 2], {}, twice),
  row("tool_deduplication.no_progress_threshold", [2, 5], read, [...drifting(4)]),
  row("tool_deduplication.append_system_note", [true, false], write, twice),
  row(
    "idempotency.ttl_ms",
    [1_000, 86_400_000],
    {
      deduplication: { window_ms: 500 },
      tool_schemas: { t: {} },
    },
    [T, after(5_000), T],
  ),
  row(
    "idempotency.unknown_outcome",
    ["refuse", "retry_if_absent"],
    { tool_schemas: { t: { time_limit_ms: 5_000 }, look: { read_only: true } } },
    [{ ...T, unreported: true }, after(600_000), { tool: "look", output: [] }, T],
  ),
  row("budgets.max_steps", [1, 9], write, different(2)),
  row("budgets.max_tool_calls", [1, 9], write, different(2)),
  row("budgets.max_seconds", [1, 99], write, [...different(1), after(5_000), T]),
  row(
    "budgets.max_spend.amount",
    ["0.10", "9.00"],
    {
      budgets: { max_spend: { currency: "USD" } },
      tool_schemas: { t: {} },
    },
    [{ ...T, overrides: cost(200_000) }],
  ),
  row(
    "budgets.max_spend.currency",
    ["EUR", "USD"],
    {
      budgets: { max_spend: { amount: "9.00" } },
      tool_schemas: { t: {} },
    },
    [{ ...T, overrides: cost(200_000) }],
  ),
  ...["per_conversation", "per_tool"].flatMap((scope): readonly KeyRow[] => [
    row(`budgets.${scope}.max_steps`, [1, 9], write, different(2)),
    row(`budgets.${scope}.max_tool_calls`, [1, 9], write, different(2)),
    row(`budgets.${scope}.max_seconds`, [1, 99], write, [...different(1), after(5_000), T]),
    row(
      `budgets.${scope}.max_spend.amount`,
      ["0.10", "9.00"],
      {
        budgets: { [scope]: { max_spend: { currency: "USD" } } },
        tool_schemas: { t: {} },
      },
      [{ ...T, overrides: cost(200_000) }],
    ),
    row(
      `budgets.${scope}.max_spend.currency`,
      ["EUR", "USD"],
      {
        budgets: { [scope]: { max_spend: { amount: "9.00" } } },
        tool_schemas: { t: {} },
      },
      [{ ...T, overrides: cost(200_000) }],
    ),
  ]),
  row("tools.dedupe_window_s", [1, 60], write, [T, after(5_000), T]),
  row("tools.cache_ttl_s", [1, 60], read, [T, after(5_000), T]),
  ...["tools.retries", "retries", "tool_schemas.*.retries"].flatMap((at): readonly KeyRow[] => [
    row(`${at}.max_attempts`, [1, 3], write, [...failing(1), T]),
    row(`${at}.retryable_status`, [[503], [504]], setIn(write, `${at}.max_attempts`, 3), [
      ...failing(1, "503", "no"),
      T,
    ]),
    row(`${at}.backoff_ms`, [[9_000, 9_000], undefined], setIn(write, `${at}.max_attempts`, 3), [
      ...failing(1),
      T,
    ]),
  ]),
  row("escalation.ask", [1, "off"], write, twice),
  row("escalation.options", [1, "off"], write, twice),
  row("escalation.user_input", [1, "off"], write, twice),
  row("escalation.end.at", [1, "off"], write, twice),
  row(
    "escalation.end.lasts",
    ["turn", "conversation"],
    {
      escalation: { end: { at: 1 } },
      tool_schemas: { t: {} },
    },
    [T, T, turn(2), { tool: "t", args: { b: 1 } }],
  ),
  row(
    "acknowledgement.mode",
    ["off", "explicit"],
    {
      escalation: { options: 1 },
      tool_schemas: { t: {} },
    },
    [T, T, { tool: "t", args: { b: 1 } }],
  ),
  row("acknowledgement.patterns", [["banana"], undefined], explicit(), says("A Banana, then")),
  row("acknowledgement.unless", [["banana"], undefined], explicit(), [
    ...says("Instead, I will take a banana"),
  ]),
  row("kill.tools", [["t"], []], write, [T]),
  row("kill.agents", [["bot"], []], write, [{ ...T, overrides: { agentId: "bot" } }]),
  row("kill.tenants", [["acme"], []], write, [{ ...T, overrides: { tenantId: "acme" } }]),
  row("kill.all", [true, false], write, [T]),
  row(
    "conversation.max_age_ms",
    [1_000_000, undefined],
    {
      conversation: { idle_ms: 900_000 },
      tool_schemas: { t: { repeatable: true } },
    },
    [T, after(600_000), T, after(600_000), T],
  ),
  row(
    "conversation.idle_ms",
    [900_000, undefined],
    {
      tool_schemas: { t: { repeatable: true } },
    },
    [T, T, after(1_000_000), T],
  ),
  row("limits.arguments_bytes", [1_024, undefined], write, [
    { tool: "t", args: { a: "x".repeat(2_000) } },
  ]),
  row("limits.output_bytes", [1_024, 16_384], read, [{ ...T, output: "x".repeat(2_000) }, T]),
  row(
    "limits.recent_calls",
    [8, 64],
    { tool_schemas: { t: { read_only: true, volatile: true } } },
    [T, T, ...different(10), T],
  ),
  row("aliases.[].resource", ["order/{id}", "thing/{id}"], aliased("order/{id}", ["t.a", "u.b"]), [
    T,
    { tool: "u", args: { b: "x" } },
  ]),
  row(
    "aliases.[].names",
    [
      ["t.a", "u.b"],
      ["t.a", "u.c"],
    ],
    aliased("order/{id}", []),
    [T, { tool: "u", args: { b: "x", c: "y" } }],
  ),
  row(
    "loops.cycle_rounds",
    [2, 9],
    {
      tool_schemas: { t: { repeatable: true } },
    },
    many(6, (n) => ({ tool: "t", args: { n: n % 2 }, output: `${n}` })),
  ),
  row("loops.rotation.calls", [8, 24], { limits: { recent_calls: 32 }, ...rotating() }, rounds(14)),
  row(
    "loops.rotation.keys",
    [2, 8],
    { loops: { rotation: { calls: 8 } }, ...rotating() },
    rounds(14),
  ),
  row("loops.failure_streak.same", [2, 4], write, [...failing(2, "E1", "no"), T]),
  row("loops.failure_streak.transient", [2, 6], write, [...failing(2), T]),
  row("loops.failure_streak.over_turns", [3, 9], write, [
    ...[2, 3, 4].flatMap((next) => [...failing(1, "E1", "no"), turn(next)]),
    T,
  ]),
  row(
    "loops.failure_streak.pause_ms",
    [
      [9_000, 9_000],
      [1_000, 1_000],
    ],
    write,
    [...failing(3, "E1", "no"), after(5_000), T],
  ),
  row("loops.failure_run.same_tool", [2, 9], write, [
    ...many(3, (n) => ({ tool: "t", args: { n }, fails: { message: "no", code: "E1" } })),
    T,
  ]),
  row("loops.failure_run.any", [2, 9], write, [
    ...many(3, (n) => ({ tool: "t", args: { n }, fails: { message: `no ${n}`, code: `E${n}` } })),
    T,
  ]),
  row("loops.drift.warn", [2, 9], read, drifting(3)),
  row("loops.drift.refuse", [2, "off"], read, drifting(4)),
  row("edges.contains", [[["order/{id}", "item/{id}"]], undefined], graph(), [
    { tool: "item", args: { id: "1" } },
    { tool: "t", args: { id: "1" } },
  ]),
  row("edges.derives", [[["item/{id}", "order/{id}"]], undefined], graph(), [
    { tool: "item", args: { id: "1" } },
    { tool: "t", args: { id: "1" } },
  ]),
];

const TIERS: readonly KeyRow[] = [
  row("authorization.default", ["allow", "ask"], write, [T]),
  row("authorization.tiers.[].name", ["a", "b"], tier({ action: "deny" }), [T]),
  row("authorization.tiers.[].pattern", ["t", "u"], tier({ action: "deny" }), [T]),
  row("authorization.tiers.[].action", ["deny", "allowlist"], tier({}), [T]),
  row(
    "authorization.tiers.[].rate_limit",
    ["1/min", "9/min"],
    tier({ action: "allowlist" }),
    different(2),
  ),
  row("authorization.tiers.[].ceiling", [1, 9], grant, different(2)),
  row(
    "authorization.tiers.[].ttl_ms",
    [1_000, 60_000],
    tier({ action: "per_conversation_grant", ceiling: 9 }),
    [T, after(5_000), ...different(1)],
  ),
  row("authorization.tiers.[].granted_by", ["policy", "verdict"], grant, [T]),
  row("authorization.tiers.[].on_exceeded", ["refuse", "hitl"], grant, different(2)),
  row("authorization.tiers.[].require_reason", [true, false], hitl, [
    T,
    { approve: { by: "ann" } },
  ]),
  row("authorization.tiers.[].expires_ms", [60_000, 90_000], hitl, [T]),
  row("authorization.tiers.[].approvals", [1, 2], hitl, [T, { approve: { by: "ann" } }]),
];

const WRITES_Q = { effects: [{ resource: "q", kind: "update" }] };

const ask = (extra: object): object => ({ tool_schemas: { t: extra, u: {} } });

const TOOLS: readonly KeyRow[] = [
  row("tool_schemas.*.risk_level", ["HIGH", "LOW"], write, [T]),
  row("tool_schemas.*.canonical_fields", [["a"], undefined], write, [
    T,
    { tool: "t", args: { a: "x", b: 1 } },
  ]),
  row("tool_schemas.*.normalizers", [{ a: "trim" }, undefined], write, [
    T,
    { tool: "t", args: { a: " x" } },
  ]),
  row("tool_schemas.*.side_effect_resource", ["thing", undefined], ask({ dedupe_window_s: 1 }), [
    T,
    after(5_000),
    T,
  ]),
  row("tool_schemas.*.input_schema", [{ type: "object", required: ["b"] }, undefined], write, [T]),
  row(
    "tool_schemas.*.effects.[].resource",
    ["r/{a}", "r/{b}"],
    ask({
      dedupe_window_s: 1,
      effects: [{ kind: "create" }],
    }),
    [
      { tool: "t", args: { a: 1, b: 1 } },
      { tool: "t", args: { a: 1, b: 2 } },
    ],
  ),
  row(
    "tool_schemas.*.effects.[].kind",
    ["create", "update"],
    ask({
      effects: [{ resource: "r" }],
    }),
    different(2),
  ),
  row(
    "tool_schemas.*.effects.[].of",
    ["make", undefined],
    {
      tool_schemas: {
        t: { effects: [{ resource: "draft/{id}/sending", kind: "send" }] },
        make: { repeatable: true, effects: [{ resource: "draft/{result.id}", kind: "create" }] },
      },
    },
    ["d1", "d2"].flatMap((id): readonly KeyStep[] => [
      { tool: "make", args: { to: "ann" }, output: { id } },
      { tool: "t", args: { id } },
    ]),
  ),
  row(
    "tool_schemas.*.effects.[].exclusive",
    [true, false],
    ask({
      effects: [{ resource: "r", kind: "update" }],
    }),
    different(2),
  ),
  row(
    "tool_schemas.*.effects.[].on_failure",
    ["conflict", "free"],
    ask({
      effects: [{ resource: "r", kind: "create" }],
    }),
    [...failing(1), { tool: "t", args: { a: "y" } }],
  ),
  row(
    "tool_schemas.*.effects.[].scope",
    ["conversation", "tenant"],
    ask({
      effects: [{ resource: "r", kind: "create" }],
    }),
    [
      { tool: "t", args: { a: "x" } },
      { tool: "t", args: { a: "x" }, overrides: { conversationId: "other" } },
    ],
  ),
  row("tool_schemas.*.suggest", [["u"], undefined], ask({}), twice),
  row("tool_schemas.*.sensitive", [["a"], undefined], write, twice),
  row("tool_schemas.*.read_only", [true, false], write, twice),
  row(
    "tool_schemas.*.reads",
    [["r/{a}"], undefined],
    {
      tool_schemas: { t: { read_only: true }, u: { effects: [{ resource: "q", kind: "update" }] } },
    },
    [T, { tool: "u" }, T],
  ),
  row(
    "tool_schemas.*.polling.min_interval_ms",
    [1_000, 1],
    {
      tool_schemas: { t: { polling: {} } },
    },
    [T, after(10), T],
  ),
  row("tool_schemas.*.polling.max_calls", [2, 9], { tool_schemas: { t: { polling: {} } } }, [
    T,
    T,
    T,
  ]),
  row("tool_schemas.*.volatile", [true, undefined], read, twice),
  row("tool_schemas.*.asks_user", [true, undefined], { tool_schemas: { t: {} } }, twice),
  row(
    "tool_schemas.*.volatile_output",
    [["$.n"], undefined],
    {
      tool_schemas: { t: { read_only: true, volatile: true } },
    },
    many(3, (n) => ({ ...T, output: { n, same: 1 } })),
  ),
  row("tool_schemas.*.error_patterns", [["^oh no"], undefined], write, [
    { ...T, returns: "oh no" },
    T,
  ]),
  row("tool_schemas.*.dedupe_window_s", [1, 60], write, [T, after(5_000), T]),
  row("tool_schemas.*.cache_ttl_s", [1, 60], read, [T, after(5_000), T]),
  row("tool_schemas.*.scope", ["turn", "conversation"], write, [T, turn(2), T]),
  row("tool_schemas.*.checks", [{ duplicate_call: "off" }, undefined], write, twice),
  row("tool_schemas.*.spelling", ["strict", "lenient"], write, [
    T,
    { tool: "t", args: { a: "x " } },
  ]),
  row("tool_schemas.*.repeatable", [true, false], write, twice),
  row("tool_schemas.*.batchable", [true, false], write, [
    { ...T, overrides: { step: "s" }, unreported: true },
    { ...T, overrides: { step: "s" } },
  ]),
  row("tool_schemas.*.frequency", ["1/min", "9/min"], write, different(2)),
  row("tool_schemas.*.time_limit_ms", [5_000, 9_000], write, [T]),
  row("tool_schemas.*.start_within_ms", [5_000, 9_000], write, [T]),
  row("tool_schemas.*.idempotency_argument", ["key", undefined], write, [T]),
  row(
    "tool_schemas.*.empty_output",
    [true, false],
    {
      tool_schemas: { t: { repeatable: true } },
    },
    [T, T, T],
  ),
  row(
    "tool_schemas.*.variants.argument",
    ["a", "b"],
    ask({
      variants: { rules: [{ equals: "x", read_only: true }], otherwise: {} },
    }),
    [T],
  ),
  row("tool_schemas.*.variants.rules.[].match", ["^x", "^y"], ruled({ read_only: true }), [T]),
  row("tool_schemas.*.variants.rules.[].equals", ["x", "y"], ruled({ read_only: true }), [T]),
  row("tool_schemas.*.variants.rules.[].like", ["x*", "y*"], ruled({ read_only: true }), [T]),
  row(
    "tool_schemas.*.variants.rules.[].when",
    [{ a: { equals: "x" } }, { a: { equals: "y" } }],
    ruled({ tier: "deny" }),
    [T],
  ),
];

/**
 * Keys that a class or a rule may have in place of its tool; one rule represents all four
 * positions.
 */
const VARIANT_KEYS: readonly (readonly [
  string,
  readonly [unknown, unknown],
  readonly KeyStep[],
])[] = [
  [
    "batchable",
    [true, undefined],
    [
      { ...T, overrides: { step: "s" }, unreported: true },
      { ...T, overrides: { step: "s" } },
    ],
  ],
  ["cache_ttl_s", [1, 60], [T, after(5_000), T]],
  ["canonical_fields", [["a"], undefined], [T, { tool: "t", args: { a: "x", b: 1 } }]],
  ["checks", [{ duplicate_call: "off" }, undefined], twice],
  ["dedupe_window_s", [1, 60], [T, after(5_000), T]],
  [
    "effects",
    [[{ resource: "r", kind: "create" }], undefined],
    [T, { tool: "t", args: { a: "x", b: 1 } }],
  ],
  [
    "normalizers",
    [{ b: "trim" }, undefined],
    [
      { tool: "t", args: { a: "x", b: "1" } },
      { tool: "t", args: { a: "x", b: " 1" } },
    ],
  ],
  ["polling", [{ max_calls: 9 }, undefined], twice],
  ["polling.min_interval_ms", [5_000, 10], [T, after(1_000), T]],
  ["polling.max_calls", [2, 9], many(4, () => T).flatMap((step) => [step, after(100)])],
  ["read_only", [true, undefined], twice],
  ["reads", [["r"], ["q"]], [T, { tool: "u" }, T]],
  ["repeatable", [true, undefined], twice],
  ["risk_level", ["HIGH", undefined], [T]],
  ["scope", ["turn", undefined], [T, turn(2), T]],
  ["side_effect_resource", ["thing", undefined], [T, after(400_000), T]],
  ["suggest", [["u"], undefined], twice],
  ["tier", ["never", undefined], [T]],
  ["volatile", [true, undefined], twice],
];

const VARIANTS: readonly KeyRow[] = VARIANT_KEYS.map(([key, values, steps]) => {
  const needsRead = ["cache_ttl_s", "reads", "volatile", "polling"].includes(
    key.split(".")[0] ?? "",
  );
  const own = { equals: "x", ...(needsRead ? { read_only: true } : {}) };
  const base = {
    ...ruled(own),
    authorization: { tiers: [{ name: "never", pattern: "none", action: "deny" }] },
  };
  return row(`tool_schemas.*.variants.rules.[].${key}`, values, base, steps);
});

export const KEY_ROWS: readonly KeyRow[] = [
  ...TOP,
  ...TIERS,
  ...TOOLS,
  ...VARIANTS,
  ...BUDGET_KEY_ROWS,
  ...COMMAND_KEY_ROWS,
  ...CONDITION_KEY_ROWS,
];

function aliased(resource: string, names: readonly string[]): object {
  const make = (kind: string): object => ({
    effects: [{ resource: "order/{id}/pay", kind, exclusive: true }],
  });
  return {
    aliases: [{ resource, names }],
    tool_schemas: { t: make("charge"), u: make("custom") },
  };
}

function graph(): object {
  return {
    tool_schemas: {
      t: { effects: [{ resource: "order/{id}", kind: "delete" }] },
      item: { effects: [{ resource: "item/{id}", kind: "charge" }] },
    },
  };
}

function ruled(rule: object): object {
  return {
    tool_schemas: { t: { variants: { argument: "a", rules: [rule], otherwise: {} } }, u: WRITES_Q },
  };
}

function rotating(): object {
  return {
    checks: { loop_repeat: "off", loop_cycle: "off" },
    tool_schemas: { t: { volatile: true } },
  };
}

function rounds(count: number): readonly KeyStep[] {
  return many(count, (n) => ({ tool: "t", args: { n: n % 3 }, output: `${n % 3}` }));
}

function explicit(): object {
  const acknowledgement = { mode: "explicit" };
  return { escalation: { options: 1 }, acknowledgement, tool_schemas: { t: {} } };
}

function says(assistantText: string): readonly KeyStep[] {
  return [T, T, { tool: "t", args: { b: 1 }, overrides: { assistantText } }];
}
