/**
 * Money by currency: what calls have cost, or are estimated to cost. Whole micro-units, never
 * floats.
 */
import type { Money } from "../inputs.ts";

/** One amount for each currency, in the order in which the currencies first came. */
export type Spent = readonly Money[];

export const NOTHING_SPENT: readonly never[] = [];

/**
 * The most currencies to count; money in further ones counts as spent in none (see
 * `checks/spend.ts`).
 */
const CURRENCIES = 8;

/**
 * `times`: 1 adds the amount, -1 takes it away. Amounts stay between zero and the largest exact
 * number.
 */
export function withMoney(spent: Spent, money: Money | null, times: 1 | -1): Spent {
  if (money === null || money.microUnits === 0) return spent;
  const at = findCurrencyIndex(spent, money.currency);
  if (at < 0) {
    if (times < 0 || spent.length >= CURRENCIES) return spent;
    return [...spent, amount(money.microUnits, money.currency)];
  }
  const before = spent[at] as Money;
  const next = amount(before.microUnits + times * money.microUnits, money.currency);
  if (spent.length === 1) return [next];
  return spent.map((one, index) => (index === at ? next : one));
}

function findCurrencyIndex(spent: Spent, currency: string): number {
  for (let at = 0; at < spent.length; at += 1) if (spent[at]?.currency === currency) return at;
  return -1;
}

function amount(microUnits: number, currency: string): Money {
  return { microUnits: Math.min(Math.max(0, microUnits), Number.MAX_SAFE_INTEGER), currency };
}

/** The amount spent in a currency, in micro-units. */
export function spentIn(spent: Spent, currency: string): number {
  return spent[findCurrencyIndex(spent, currency)]?.microUnits ?? 0;
}

/** Whether anything was spent that a limit in this currency cannot count. */
export function spentElsewhere(spent: Spent, currency: string): boolean {
  for (const one of spent) if (one.currency !== currency && one.microUnits > 0) return true;
  return false;
}
