import fc from "fast-check";
import { expect, test } from "vitest";
import { formOf, NO_FORM, SENTENCES } from "../../../../services/core/state/sweep.ts";

const form = (args: object): number => formOf(JSON.stringify(args));

test("calls that differ in dates and ids are of one form", () => {
  const id = fc.stringMatching(/^[A-Z]{2}-\d{1,6}$/);
  const day = fc.integer({ min: 10, max: 28 }).map((n) => `2026-11-${n}`);
  const args = fc.tuple(id, day, fc.nat()).map(([sku, date, id]) => ({ sku, date, user_id: id }));
  fc.assert(fc.property(args, args, (one, other) => form(one) === form(other)));
});

test("calls that differ in a word or a plain number are of different forms", () => {
  const word = fc.stringMatching(/^[a-z]{1,8}$/);
  fc.assert(
    fc.property(word, word, fc.nat(), fc.nat(), (a, b, page, other) => {
      fc.pre(a !== b && page !== other);
      const date = "2026-11-27";
      return (
        form({ date, query: a }) !== form({ date, query: b }) &&
        form({ date, page }) !== form({ date, page: other })
      );
    }),
  );
});

test.each([
  {},
  { query: "raincoat" },
  { code: "let a = b + c" },
  { path: "src/a b c.ts" },
  { page: 12 },
  { page: "12" },
])("%j has no date, id or sentence", (args) => {
  expect(form(args)).toBe(NO_FORM);
});

test.each([
  { task: "research refund policy" },
  { task: "final attempt" },
  { agent: "billing", task: "Ticket 93300: please resolve the wrong seat count" },
])("%j is made of sentences", (args) => {
  expect(form(args)).toBe(SENTENCES);
});
