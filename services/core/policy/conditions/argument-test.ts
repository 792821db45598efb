/** The tests that a condition may have of one argument. */
import type { JsonObject, JsonValue } from "../../canonical/json-value.ts";
import type { ValueCapabilities } from "../../capabilities.ts";
import type { ArgumentTests } from "../document.ts";
import type { ValueAt } from "./document-path.ts";
import { isInDomain, readDomain } from "./domain.ts";
import { endsWith, startsWith } from "./likeness.ts";
import { compareWith, readBound } from "./quantity.ts";
import { isOneOf } from "./scalars.ts";
import { every, not, type Truth } from "./truth.ts";

/** Total and pure. `args`: all arguments of the call. */
export type ValueTest = (at: ValueAt, args: JsonObject) => Truth;

export type TestName = Exclude<keyof ArgumentTests, "currency" | "budget">;

export const TESTS: readonly TestName[] = [
  "present",
  "equals",
  "not",
  "in",
  "not_in",
  "at_most",
  "at_least",
  "above",
  "below",
  "starts_with",
  "ends_with",
  "domain",
  "count",
];

type Make = (tests: ArgumentTests, capabilities: ValueCapabilities) => ValueTest | string;

const MAKE: Readonly<Record<TestName, Make>> = {
  present: ({ present }) => only((value) => (value !== undefined && value !== null) === present),
  equals: ({ equals = null }, caps) => only((value) => isOneOf(value, [equals], caps)),
  not: (tests, caps) => only((value) => not(isOneOf(value, [tests.not ?? null], caps))),
  in: (tests, caps) => only((value) => isOneOf(value, tests.in ?? [], caps)),
  not_in: ({ not_in = [] }, caps) => only((value) => not(isOneOf(value, not_in, caps))),
  at_most: ({ at_most, currency }, caps) =>
    compared(at_most, currency, caps, (order) => order <= 0),
  at_least: ({ at_least, currency }, caps) =>
    compared(at_least, currency, caps, (order) => order >= 0),
  above: ({ above, currency }, caps) => compared(above, currency, caps, (order) => order > 0),
  below: ({ below, currency }, caps) => compared(below, currency, caps, (order) => order < 0),
  starts_with: ({ starts_with = [] }) => only((value) => startsWith(value, starts_with)),
  ends_with: ({ ends_with = [] }) => only((value) => endsWith(value, ends_with)),
  domain: ({ domain = [] }, caps) => inDomain(domain, caps),
  count: ({ count = {} }) => only((value) => isCounted(value, count)),
};

/** A test, or what is wrong with it. */
export function compileTest(
  name: TestName,
  tests: ArgumentTests,
  capabilities: ValueCapabilities,
): ValueTest | string {
  return MAKE[name](tests, capabilities);
}

function only(test: (value: JsonValue | undefined) => Truth): ValueTest {
  return ({ value }) => test(value);
}

function compared(
  written: string | number | undefined,
  currency: string | undefined,
  capabilities: ValueCapabilities,
  holds: (order: number) => boolean,
): ValueTest | string {
  const bound = written === undefined ? null : readBound(written, capabilities);
  if (bound === null) {
    return `\`${written}\` is no bound: write a number, an amount such as 50 EUR, a date such as 2026-01-31, or a time with its offset`;
  }
  if (currency !== undefined && bound.kind !== "money") {
    return `\`${written}\` has no currency: write an amount such as 50 EUR, or leave \`currency\` out`;
  }
  return (at, args) => {
    const order = compareWith(bound, at, args, currency ?? null, capabilities);
    return order === null ? "unreadable" : holds(order);
  };
}

function inDomain(written: readonly string[], capabilities: ValueCapabilities): ValueTest | string {
  const domains: string[] = [];
  for (const text of written) {
    const domain = readDomain(text, capabilities);
    if (domain === null) return `\`${text}\` is no domain: write a name such as example.com`;
    domains.push(domain);
  }
  return only((value) => isInDomain(value, domains, capabilities));
}

function isCounted(
  value: JsonValue | undefined,
  { equals, at_most, at_least }: NonNullable<ArgumentTests["count"]>,
): Truth {
  if (!Array.isArray(value)) return "unreadable";
  const { length } = value;
  return every([
    equals === undefined || length === equals,
    at_most === undefined || length <= at_most,
    at_least === undefined || length >= at_least,
  ]);
}
