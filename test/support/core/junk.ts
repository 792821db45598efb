// Inputs with anything in their fields: what a caller without any validation would pass on.
import fc from "fast-check";
import {
  type GateInput,
  RESULT_STATUSES,
  VERDICT_KINDS,
  type VerdictInput,
} from "../../../services/core/inputs.ts";

const ODD = [
  "__proto__",
  "constructor",
  "toString",
  "",
  " ",
  "a/b",
  "\u0000",
  "\ud800",
  "9".repeat(400),
  "x".repeat(70_000),
  "😀",
  "{}",
];

const text = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom("a", "b", "look", "write", "get_order", "make_order") },
  { weight: 2, arbitrary: fc.constantFrom(...ODD) },
  { weight: 1, arbitrary: fc.string({ unit: "binary" }) },
  {
    weight: 1,
    arbitrary: fc.array(fc.nat(0xffff)).map((units) => String.fromCharCode(...units)),
  },
);

const maybe = fc.option(text);
const amount = fc.oneof(fc.integer(), fc.double(), fc.constantFrom(Number.MAX_SAFE_INTEGER, -1, 0));

const args = fc.oneof(
  { weight: 4, arbitrary: fc.json() },
  { weight: 4, arbitrary: fc.dictionary(text, fc.jsonValue()).map((v) => JSON.stringify(v)) },
  { weight: 2, arbitrary: fc.constantFrom('{"__proto__":{"a":1}}', '{"id":1}', "{}", "[]", "") },
  { weight: 1, arbitrary: fc.constant(`${"[".repeat(5_000)}`) },
  { weight: 1, arbitrary: fc.constant(`{"a":"${"x".repeat(400_000)}"}`) },
  { weight: 1, arbitrary: text },
  { weight: 1, arbitrary: fc.uint8Array() },
);

const proposal = fc.record({
  type: fc.constant("proposal" as const),
  tenantId: text,
  conversationId: text,
  callId: text,
  agentId: maybe,
  turn: maybe,
  step: maybe,
  tool: text,
  arguments: args,
  assistantText: maybe,
  estimatedCost: fc.option(fc.record({ microUnits: amount, currency: text })),
  confirmation: maybe,
  rejected: fc.option(
    fc.record({
      reason: fc.constantFrom(
        "malformed" as const,
        "too_large" as const,
        "misrouted" as const,
        "unauthenticated" as const,
        "overloaded" as const,
      ),
      message: text,
    }),
    { freq: 20 },
  ),
});

const result = fc.record({
  type: fc.constant("result" as const),
  tenantId: text,
  conversationId: text,
  callId: text,
  decisionId: text,
  status: fc.constantFrom(...RESULT_STATUSES),
  output: maybe,
  outputDigest: maybe,
  outputBytes: fc.option(amount),
  error: fc.option(fc.record({ code: maybe, message: text, retryable: fc.option(fc.boolean()) })),
  durationMs: fc.option(amount),
  cost: fc.option(fc.record({ microUnits: amount, currency: text })),
});

const kinds = VERDICT_KINDS.filter((kind): kind is VerdictInput["kind"] => kind !== "tick");

const verdict = fc.record({
  type: fc.constant("verdict" as const),
  kind: fc.constantFrom(...kinds),
  tenantId: text,
  conversationId: text,
  approvalId: maybe,
  decisionId: maybe,
  outcome: fc.constantFrom("succeeded" as const, "failed" as const, "not_executed" as const, null),
  tier: maybe,
  tool: maybe,
  calls: fc.option(amount),
  untilMs: fc.option(amount),
  by: text,
  reason: maybe,
});

export const junkInput: fc.Arbitrary<GateInput> = fc.oneof(
  { weight: 6, arbitrary: proposal },
  { weight: 2, arbitrary: result },
  { weight: 2, arbitrary: verdict },
  { weight: 1, arbitrary: fc.constant({ type: "tick" as const }) },
);
