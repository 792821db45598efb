import { describe, expect, test } from "vitest";
import type { JsonObject, JsonValue } from "../../../../../services/core/canonical/json-value.ts";
import type { CompileProblem } from "../../../../../services/core/policy/compile-identity.ts";
import {
  type ConditionDocument,
  compileCondition,
} from "../../../../../services/core/policy/conditions/condition.ts";
import { UNKNOWN_SPENDING } from "../../../../../services/core/policy/conditions/spending.ts";
import type { ArgumentTests } from "../../../../../services/core/policy/document.ts";
import { capabilities } from "../../../../../services/gate/capabilities.ts";

const CONTEXT = { capabilities, budgets: new Set<string>() };

function truthOf(condition: ConditionDocument, args: JsonObject) {
  const problems: CompileProblem[] = [];
  const { evaluate } = compileCondition(condition, ["when"], CONTEXT, problems);
  expect(problems).toEqual([]);
  return evaluate(args, UNKNOWN_SPENDING);
}

const U = "unreadable";
type Case = readonly [tests: ArgumentTests, value: JsonValue, expected: boolean | "unreadable"];

describe("a test of a number", () => {
  test.each<Case>([
    [{ at_most: 50 }, 50, true],
    [{ at_most: 50 }, "50.00", true],
    [{ at_most: 50 }, 50.01, false],
    [{ at_most: 50 }, "5e1", true],
    [{ at_most: "0.3" }, "0.30000000000000000001", false],
    [{ at_most: 50 }, "50 ", U],
    [{ at_most: 50 }, "fifty", U],
    [{ at_most: 50 }, null, U],
    [{ at_most: 50 }, [1], U],
    [{ at_most: 50 }, -1e21, true],
    [{ at_least: 50 }, 50, true],
    [{ at_least: 50 }, "49.99", false],
    [{ above: 0 }, -0, false],
    [{ above: -2 }, "-1.5", true],
    [{ below: -2 }, "-2.5", true],
    [{ below: 2 }, 2, false],
    [{ above: 1, below: 3 }, 3, false],
    [{ equals: 50 }, "50.0", true],
    [{ equals: 50 }, true, U],
  ])("%j of %j is %s", (tests, value, expected) => {
    expect(truthOf({ a: tests }, { a: value })).toBe(expected);
  });
});

describe("a test of money", () => {
  const eur = { total: { at_most: "50 EUR" } } as const;
  test.each<readonly [JsonObject, boolean | "unreadable"]>([
    [{ total: "49.90 EUR" }, true],
    [{ total: "50.01 eur" }, false],
    [{ total: "49.90", currency: " eur" }, true],
    [{ total: 50.01, currency: "EUR" }, false],
    [{ total: { amount: "50", currency: "EUR" } }, true],
    [{ total: 1, currency: "USD" }, U],
    [{ total: "1 USD", currency: "EUR" }, U],
    [{ total: 1 }, U],
    [{ total: { amount: "1" }, currency: "EUR" }, U],
    [{ total: { amount: { amount: 1 }, currency: "EUR" } }, U],
  ])("at most 50 EUR of %j is %s", (args, expected) => {
    expect(truthOf(eur, args)).toBe(expected);
  });

  test("reads the currency of another argument, or beside the amount", () => {
    const ofOrder = { total: { below: "50 EUR", currency: "order.code" } };
    expect(truthOf(ofOrder, { total: 4, order: { code: "EUR" } })).toBe(true);
    expect(truthOf(ofOrder, { total: 4, currency: "EUR" })).toBe(U);
    const each = { "items[].price": { below: "50 EUR" } };
    const price = (value: number, currency: string) => ({ price: value, currency });
    expect(truthOf(each, { items: [price(1, "EUR"), price(2, "EUR")] })).toBe(true);
    expect(truthOf(each, { items: [price(1, "EUR"), price(2, "USD")] })).toBe(U);
    expect(truthOf(each, { items: [price(70, "EUR"), price(2, "USD")] })).toBe(false);
  });
});

describe("a test of a day or a time", () => {
  test.each<Case>([
    [{ at_most: "2026-01-31" }, "2026-01-31", true],
    [{ below: "2026-01-31" }, "2026-02-01", false],
    [{ at_most: "2026-01-31" }, "2026-01-31T10:00:00Z", U],
    [{ at_most: "2026-01-31" }, "31/01/2026", U],
    [{ below: "2026-01-31T12:00:00Z" }, "2026-01-31T12:30:00+02:00", true],
    [{ above: "2026-01-31T12:00:00Z" }, "2026-01-31T12:00:00.5Z", true],
    [{ below: "2026-01-31T12:00:00Z" }, "2026-01-31T11:00:00", U],
  ])("%j of %j is %s", (tests, value, expected) => {
    expect(truthOf({ a: tests }, { a: value })).toBe(expected);
  });
});

describe("a test of a scalar or a text", () => {
  test.each<Case>([
    [{ equals: "prod" }, "prod", true],
    [{ equals: "prod" }, "staging", false],
    [{ equals: "prod" }, "Prod", U],
    [{ equals: "prod" }, " prod\u200b", U],
    [{ equals: "prod" }, 1, U],
    [{ equals: true }, true, true],
    [{ equals: true }, "true", U],
    [{ equals: null }, null, true],
    [{ equals: null }, "x", false],
    [{ not: "prod" }, "PROD", U],
    [{ not: "prod" }, "staging", true],
    [{ in: ["a", 5, null] }, "5", true],
    [{ in: ["a", 5] }, "b", false],
    [{ in: ["a", "b"] }, "B", U],
    [{ in: ["a", "b"] }, null, U],
    [{ not_in: ["a", "b"] }, "c", true],
    [{ not_in: ["a", "b"] }, "b", false],
    [{ starts_with: ["/tmp/", "/var/"] }, "/var/a", true],
    [{ starts_with: ["/tmp/"] }, "/TMP/a", U],
    [{ starts_with: ["/tmp/"] }, "/etc/a", false],
    [{ ends_with: [".md"] }, "a.md", true],
    [{ ends_with: [".md"] }, "a.md ", U],
    [{ ends_with: [".md"] }, 5, U],
    [{ present: true }, "", true],
    [{ present: true }, null, false],
    [{ present: false }, null, true],
  ])("%j of %j is %s", (tests, value, expected) => {
    expect(truthOf({ a: tests }, { a: value })).toBe(expected);
  });
});

describe("a test of a domain", () => {
  test.each<Case>([
    [{ domain: ["example.com"] }, "ann@example.com", true],
    [{ domain: ["example.com"] }, "ann@Mail.EXAMPLE.com", true],
    [{ domain: ["example.com"] }, "ann@notexample.com", false],
    [{ domain: ["example.com"] }, "ann@example.com.evil.org", false],
    [{ domain: ["example.com"] }, "Ann <ann@example.com>", U],
    [{ domain: ["example.com"] }, "a@example.com,b@evil.org", U],
    [{ domain: ["example.com"] }, "https://api.example.com:8443/a?b=c@d", true],
    [{ domain: ["example.com"] }, "https://evil.org/example.com", false],
    [{ domain: ["example.com"] }, "https://example.com@evil.org/", U],
    [{ domain: ["example.com"] }, "https://evil.org\\@example.com/", U],
    [{ domain: ["example.com"] }, "file://example.com/a", U],
    [{ domain: ["example.com"] }, "example.com", U],
    [{ domain: ["bücher.example", "example.org"] }, "a@xn--bcher-kva.example", true],
  ])("%j of %j is %s", (tests, value, expected) => {
    expect(truthOf({ a: tests }, { a: value })).toBe(expected);
  });
});

describe("a condition", () => {
  test("needs each of its tests, and one of its maps", () => {
    const both = { a: { equals: 1 }, b: { equals: 1 } };
    expect(truthOf(both, { a: 1, b: 1 })).toBe(true);
    expect(truthOf(both, { a: 1 })).toBe(U);
    expect(truthOf(both, { a: 2 })).toBe(false);
    const either = [{ a: { equals: 1 } }, { b: { equals: 1 } }];
    expect(truthOf(either, { b: 1 })).toBe(true);
    expect(truthOf(either, { a: 2 })).toBe(U);
    expect(truthOf(either, { a: 2, b: 2 })).toBe(false);
  });

  test("tests each element of a list, and the list's length", () => {
    const ours = { "to[]": { domain: ["example.com"] } };
    expect(truthOf(ours, { to: ["a@example.com", "b@example.com"] })).toBe(true);
    expect(truthOf(ours, { to: "a@example.com" })).toBe(true);
    expect(truthOf(ours, { to: ["a@example.com", "b@evil.org"] })).toBe(false);
    expect(truthOf(ours, { to: ["a@example.com", 5] })).toBe(U);
    expect(truthOf(ours, { to: [] })).toBe(U);
    expect(truthOf(ours, {})).toBe(U);
    const few = { to: { count: { at_least: 1, at_most: 2 } } };
    expect(truthOf(few, { to: [1, 2] })).toBe(true);
    expect(truthOf(few, { to: [] })).toBe(false);
    expect(truthOf(few, { to: "a" })).toBe(U);
    expect(truthOf({ to: { count: { equals: 2 } } }, { to: [1, 2, 3] })).toBe(false);
  });

  test("reads members of members, and no literal key beside them", () => {
    const nested = { "order.total": { at_most: 50 } };
    expect(truthOf(nested, { order: { total: 40 } })).toBe(true);
    expect(truthOf(nested, { order: { total: 60 }, "order.total": 1 })).toBe(false);
    expect(truthOf(nested, { order: [] })).toBe(U);
    const deep = { "a[].b[]": { equals: 1 } };
    expect(truthOf(deep, { a: [{ b: [1, 1] }, { b: 1 }] })).toBe(true);
    expect(truthOf(deep, { a: [{ b: [1, 2] }] })).toBe(false);
    expect(truthOf(deep, { a: [{}] })).toBe(U);
  });

  test.each<readonly [ArgumentTests, string]>([
    [{ at_most: "fifty" }, "`fifty` is no bound: write a number"],
    [{ below: "2026-01-31T10:00:00" }, "is no bound"],
    [{ at_most: 50, currency: "code" }, "`50` has no currency"],
    [{ domain: ["@example.com"] }, "`@example.com` is no domain"],
  ])("reports what is wrong with %j", (tests, message) => {
    const problems: CompileProblem[] = [];
    compileCondition({ a: tests }, ["when"], CONTEXT, problems);
    expect(problems).toHaveLength(1);
    expect(problems[0]?.path).toMatch(/^when\.a\./);
    expect(problems[0]?.message).toContain(message);
  });
});
