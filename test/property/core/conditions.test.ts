// Conditions on arguments: total, exact, and never laxer for a value that cannot be read.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { JsonObject, JsonValue } from "../../../services/core/canonical/json-value.ts";
import { STRICTNESS } from "../../../services/core/policy/compile-tiers.ts";
import { toolOfCall } from "../../../services/core/policy/compiled.ts";
import { compileCondition } from "../../../services/core/policy/conditions/condition.ts";
import { compareDecimals } from "../../../services/core/policy/conditions/decimals.ts";
import { UNKNOWN_SPENDING } from "../../../services/core/policy/conditions/spending.ts";
import type { ArgumentTests, PolicyTier } from "../../../services/core/policy/document.ts";
import { capabilities } from "../../../services/gate/capabilities.ts";
import { compiled } from "../../support/core/compile.ts";

const scalar = fc.oneof(
  fc.constantFrom<JsonValue>(
    null,
    true,
    "",
    "50",
    "50.00",
    "50 EUR",
    "EUR",
    "a@b.org",
    "2026-01-31",
  ),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.string({ unit: "binary" }),
  fc.string({ unit: "grapheme" }),
);
const value: fc.Arbitrary<JsonValue> = fc.oneof(
  scalar,
  fc.array(scalar, { maxLength: 3 }),
  fc.dictionary(fc.constantFrom("a", "b", "amount", "currency", "a.b"), scalar),
);
const args = fc.dictionary(
  fc.constantFrom("a", "b", "currency", "a.b"),
  value,
) as fc.Arbitrary<JsonObject>;

const bound = fc.constantFrom<string | number>(
  50,
  "0.1",
  "50 EUR",
  "2026-01-31",
  "2026-01-31T10:00:00Z",
);
const tests: fc.Arbitrary<ArgumentTests> = fc.oneof(
  fc.record({ at_most: bound }),
  fc.record({ above: bound }),
  fc.record({ equals: fc.constantFrom("50", 50, true, null) }),
  fc.record({ not_in: fc.constant(["", 50, "EUR"]) }),
  fc.record({ starts_with: fc.constant(["5", "a"]) }),
  fc.record({ domain: fc.constant(["b.org"]) }),
  fc.record({ count: fc.constant({ at_most: 1 }) }),
  fc.record({ present: fc.boolean() }),
);
const condition = fc.dictionary(fc.constantFrom("a", "b", "a.b", "a[]", "a[].b", "a.b[]"), tests, {
  minKeys: 1,
});
const when = fc.oneof(condition, fc.array(condition, { minLength: 1, maxLength: 2 }));

function evaluated(written: Parameters<typeof compileCondition>[0], call: JsonObject) {
  const context = { capabilities, budgets: null };
  return compileCondition(written, [], context, []).evaluate(call, UNKNOWN_SPENDING);
}

const tier = fc.oneof(
  fc.record({ action: fc.constant("allowlist" as const) }),
  fc.record({
    action: fc.constant("per_conversation_grant" as const),
    ceiling: fc.nat(3).map((n) => n + 1),
  }),
  fc.record({ action: fc.constant("hitl" as const), approvals: fc.integer({ min: 1, max: 3 }) }),
  fc.record({ action: fc.constant("deny" as const) }),
);

describe("a condition", () => {
  test("has an answer for all arguments, the same each time", () => {
    fc.assert(
      fc.property(when, args, (written, call) => {
        const truth = evaluated(written, call);
        expect([true, false, "unreadable"]).toContain(truth);
        expect(evaluated(written, call)).toBe(truth);
      }),
    );
  });

  test("compares numbers as exact decimals", () => {
    const digits = fc.stringMatching(/^-?(0|[1-9][0-9]{0,25})(\.[0-9]{1,25})?$/);
    fc.assert(
      fc.property(digits, digits, (a, b) => {
        const scaled = (text: string): bigint => {
          const [whole = "", fraction = ""] = text.replace("-", "").split(".");
          const size = BigInt(whole + fraction.padEnd(25, "0"));
          return text.startsWith("-") ? -size : size;
        };
        const order = scaled(a) < scaled(b) ? -1 : Number(scaled(a) > scaled(b));
        expect(Math.sign(compareDecimals(a, b))).toBe(order);
        expect(evaluated({ x: { at_most: b } }, { x: a })).toBe(order <= 0);
        expect(evaluated({ x: { above: b } }, { x: a })).toBe(order > 0);
      }),
    );
  });

  test("makes a call that it cannot read no laxer than either branch", () => {
    const document = (tiers: readonly PolicyTier[]) =>
      compiled({ authorization: { default: "ask", tiers }, tool_schemas: { t: {} } });
    fc.assert(
      fc.property(tier, tier, (first, second) => {
        const rule = (name: string, action: object) =>
          ({ name, pattern: "t", ...action }) as PolicyTier;
        const written = rule("first", { ...first, when: { a: { at_most: 50 } } });
        const rest = rule("second", second);
        const of = (tiers: readonly PolicyTier[], call: JsonObject) =>
          toolOfCall(document(tiers), "t", call).tier;
        const strictness = (a: JsonObject) => STRICTNESS[of([written, rest], a).action];
        const unread = strictness({ a: "?" });
        expect(unread).toBe(Math.max(strictness({ a: 1 }), strictness({ a: 99 })));
        const { when: _when, ...always } = written;
        expect(of([written, rest], { a: 1 })).toEqual(of([always as PolicyTier], {}));
      }),
      { numRuns: 60 },
    );
  });
});
