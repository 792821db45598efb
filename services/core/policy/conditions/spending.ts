/** The test `spent`: what a conversation has spent of a budget, the call itself included. */
import type { ValueCapabilities } from "../../capabilities.ts";
import type { Money } from "../../inputs.ts";
import type { ArgumentTests } from "../document.ts";
import { readBound } from "./quantity.ts";
import type { Truth } from "./truth.ts";

/** The key of a condition that is about a budget where its tests name one. */
export const SPENT = "spent";

/** What a budget's period has cost, the call itself included. */
export interface SpentAmounts {
  /** One amount for each currency. */
  readonly amounts: readonly Money[];
  /** False: there are calls whose amount nobody knows, so that it may be more. */
  readonly isExact: boolean;
}

/** Null: nobody knows. Pure and total. */
export type Spending = (budget: string) => SpentAmounts | null;

/** Where no state is at hand: every test of `spent` is unreadable. */
export const UNKNOWN_SPENDING: Spending = () => null;

const TESTS = {
  at_most: (order: number) => order <= 0,
  at_least: (order: number) => order >= 0,
  above: (order: number) => order > 0,
  below: (order: number) => order < 0,
} as const;

type SpentTest = (spending: Spending) => Truth;

export interface CompiledSpentTest {
  readonly text: string;
  readonly evaluate: SpentTest;
}

/** Each test of the budget, or what is wrong with one, by its key. */
export function compileSpentTests(
  tests: ArgumentTests,
  capabilities: ValueCapabilities,
  report: (key: string, message: string) => void,
): readonly CompiledSpentTest[] {
  const { budget = "", ...written } = tests;
  const compiled = Object.entries(written).flatMap(([name, bound]): CompiledSpentTest[] => {
    if (!isSpentTest(name)) {
      report(
        name,
        `\`${name}\` is no test of what a budget has spent: write at_most, at_least, above or below`,
      );
      return [];
    }
    const limit = readLimit(bound as string | number, capabilities);
    if (limit === null) {
      const example = "write an amount such as 100 EUR, with up to six digits after the point";
      report(name, `\`${String(bound)}\` is no amount of money: ${example}`);
      return [];
    }
    const text = `${SPENT} of ${budget} ${name} ${JSON.stringify(bound)}`;
    return [{ text, evaluate: (spending) => compare(spending(budget), limit, TESTS[name]) }];
  });
  if (Object.keys(written).length === 0) report("budget", "has no test: write above: 100 EUR");
  return compiled;
}

function isSpentTest(name: string): name is keyof typeof TESTS {
  return Object.hasOwn(TESTS, name);
}

function readLimit(bound: string | number, capabilities: ValueCapabilities): Money | null {
  const quantity = readBound(bound, capabilities);
  if (quantity?.kind !== "money") return null;
  const microUnits = toMicroUnits(quantity.number);
  return microUnits === null ? null : { microUnits, currency: quantity.currency };
}

const DECIMAL = /^([0-9]{1,9})(?:\.([0-9]{1,6}))?$/;
const FRACTION_DIGITS = 6;

/** Exact; null: negative, or more digits than an amount may have. */
export function toMicroUnits(decimal: string): number | null {
  const [whole, digits, fraction = ""] = DECIMAL.exec(decimal) ?? [];
  if (whole === undefined) return null;
  return Number(`${digits}${fraction.padEnd(FRACTION_DIGITS, "0")}`);
}

/** Money in another currency cannot be counted. */
function compare(
  spent: SpentAmounts | null,
  limit: Money,
  holds: (order: number) => boolean,
): Truth {
  if (spent === null) return "unreadable";
  const others = spent.amounts.filter(({ currency }) => currency !== limit.currency);
  if (others.some(({ microUnits }) => microUnits > 0)) return "unreadable";
  const own = spent.amounts.find(({ currency }) => currency === limit.currency);
  const holdsNow = holds(Math.sign((own?.microUnits ?? 0) - limit.microUnits));
  // It may be more than is known: then only an answer that more would not change is one.
  return spent.isExact || holdsNow === holds(1) ? holdsNow : "unreadable";
}
