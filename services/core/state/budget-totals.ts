/** What the budgets with a name have counted, each in its present period. */
import type { CountedBudget } from "../events.ts";
import type { Money } from "../inputs.ts";
import { LIMITS } from "../limits.ts";
import { NOTHING_SPENT, type Spent, withMoney } from "./spent.ts";

export interface BudgetTotals {
  readonly name: string;
  /** The turn, the day, or 0: the conversation. */
  readonly period: number;
  readonly calls: number;
  readonly spent: Spent;
  /** Calls among them whose amount nobody knows. */
  readonly unknown: number;
}

/** In the order in which they last counted a call. */
export type AllBudgetTotals = readonly BudgetTotals[];

export const NO_BUDGETS: readonly never[] = [];

export const NOTHING_COUNTED: readonly CountedBudget[] = [];

/** What the budget has counted in the period; another period starts from nothing. */
export function totalsIn(all: AllBudgetTotals, name: string, period: number): BudgetTotals {
  const totals = all.find((one) => one.name === name);
  if (totals?.period === period) return totals;
  return { name, period, calls: 0, spent: NOTHING_SPENT, unknown: 0 };
}

/** Counts a call. At the bound, the budget that counted longest ago is forgotten. */
export function countBudgets(
  all: AllBudgetTotals,
  counted: readonly CountedBudget[],
): AllBudgetTotals {
  let next = all;
  for (const one of counted) {
    const totals = totalsIn(next, one.budget, one.period);
    const others = next.filter(({ name }) => name !== one.budget);
    const more = withAmount({ ...totals, calls: totals.calls + 1 }, one.amount, 1);
    next = [...others.slice(-(LIMITS.counters - 1)), more];
  }
  return next;
}

/** Gives back a call, with its amount. */
export function returnCall(
  all: AllBudgetTotals,
  counted: readonly CountedBudget[],
): AllBudgetTotals {
  return changed(all, counted, (totals, { amount }) => {
    return withAmount({ ...totals, calls: Math.max(0, totals.calls - 1) }, amount, -1);
  });
}

/** Gives back what arguments said a call costs, which had no effect. */
export function returnAmounts(
  all: AllBudgetTotals,
  counted: readonly CountedBudget[],
): AllBudgetTotals {
  const fixed = counted.filter((one) => one.isFixed);
  return changed(all, fixed, (totals, { amount }) => withAmount(totals, amount, -1));
}

const NO_MONEY: Money = { microUnits: 0, currency: "" };

/** The same budgets, of which nothing is to be given back but the call. */
export function withoutAmounts(counted: readonly CountedBudget[]): readonly CountedBudget[] {
  return counted.map((one) => (one.isFixed ? { ...one, amount: NO_MONEY } : one));
}

/** The reported cost takes the place of the estimated one. */
export function replaceAmounts(
  all: AllBudgetTotals,
  counted: readonly CountedBudget[],
  cost: Money,
): AllBudgetTotals {
  const estimated = counted.filter((one) => !one.isFixed);
  return changed(all, estimated, (totals, { amount }) =>
    withAmount(withAmount(totals, amount, -1), cost, 1),
  );
}

/** The same call with its reported cost. */
export function withCost(counted: readonly CountedBudget[], cost: Money): readonly CountedBudget[] {
  return counted.map((one) => (one.isFixed ? one : { ...one, amount: cost }));
}

function withAmount(totals: BudgetTotals, amount: Money | null, times: 1 | -1): BudgetTotals {
  if (amount === null) return { ...totals, unknown: Math.max(0, totals.unknown + times) };
  return { ...totals, spent: withMoney(totals.spent, amount, times) };
}

/** Totals of another period have nothing of the call. */
function changed(
  all: AllBudgetTotals,
  counted: readonly CountedBudget[],
  change: (totals: BudgetTotals, one: CountedBudget) => BudgetTotals,
): AllBudgetTotals {
  if (counted.length === 0) return all;
  return all.map((totals) => {
    const one = counted.find(({ budget }) => budget === totals.name);
    return one?.period === totals.period ? change(totals, one) : totals;
  });
}
