/** The key `when` of a rule: tests of a call's arguments. */
import { z } from "zod";
import { isConditionPath } from "../../../core/policy/conditions/document-path.ts";
import { nameType } from "./key-facts.ts";
import { count, flag, key, oneOrMore, text } from "./values.ts";

const scalar = z.union([z.string(), z.number(), z.boolean(), z.null()], {
  error: "must be a text, a number, true, false or null\nwrite the value that the argument has",
});

const scalars = z.array(nameType("Scalar", scalar)).min(1);

const bound = nameType(
  "QuantityBound",
  z.union([z.number(), text], {
    error:
      "must be a number, an amount of money or a date\nwrite 50, 50 EUR, 2026-01-31 or 2026-01-31T12:00:00Z",
  }),
);

const counted = z
  .strictObject({
    equals: key(count(0), "Exactly so many elements."),
    at_most: key(count(0), "So many elements or fewer."),
    at_least: key(count(0), "So many elements or more."),
  })
  .refine((tests) => Object.keys(tests).length > 0, { error: "has no test\nwrite at_most: 5" });

const tests = nameType(
  "ArgumentTests",
  z
    .strictObject({
      equals: key(scalar, "The value is this one; numbers are compared exactly."),
      not: key(scalar, "The value is another one."),
      in: key(scalars, "The value is one of these."),
      not_in: key(scalars, "The value is none of these."),
      at_most: key(
        bound,
        "The value is this or less: 50, 50 EUR, a date, or a time with its offset.",
      ),
      at_least: key(bound, "The value is this or more."),
      above: key(bound, "The value is more than this."),
      below: key(bound, "The value is less than this."),
      currency: key(
        text,
        "Argument with the currency of an amount. Default: the member `currency` beside the amount.",
      ),
      starts_with: key(oneOrMore, "The text begins with this, or with one of these."),
      ends_with: key(oneOrMore, "The text ends with this, or with one of these."),
      domain: key(
        oneOrMore,
        "The mail address or URL is of this domain, of one of these, or of a subdomain.",
      ),
      count: key(counted, "The number of elements of a list."),
      budget: key(
        text,
        "Under the key `spent`: the budget of `budgets.by_name` whose spending the tests are about, the call itself included.",
      ),
      present: key(flag, "true: the call has the argument. false: it does not, or it is null."),
    })
    .refine(
      (written) => Object.keys(written).some((name) => name !== "currency" && name !== "budget"),
      {
        error: "has no test\nwrite for example at_most: 50",
      },
    ),
);

const path = z.string().refine(isConditionPath, {
  error: "is no path of an argument\nwrite amount, customer.id, to[] or items[].price",
});

const condition = nameType(
  "Condition",
  z.record(path, tests).refine((written) => Object.keys(written).length > 0, {
    error: "has no argument\nwrite for example { amount: { at_most: 50 } }",
  }),
);

/** One map, or a list of maps of which one must hold. */
export const conditions = z.union([condition, z.array(condition).min(1)]);
