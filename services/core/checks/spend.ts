/** A spend budget is exact, in whole micro-units. It counts only the currency of its limit. */
import type { Money } from "../inputs.ts";
import { type Spent, spentElsewhere, spentIn } from "../state/spent.ts";

const MICRO_UNITS = 1_000_000;
const FRACTION_DIGITS = 6;

/**
 * The limit in words if the call would exceed it, else null. A call that names no cost is refused
 * once the limit is reached. Money in a currency that the limit cannot count refuses: fail closed.
 */
export function overSpend(cost: Money | null, limit: Money, spent: Spent): string | null {
  const { currency } = limit;
  if ((cost !== null && cost.currency !== currency) || spentElsewhere(spent, currency)) {
    return `${moneyText(limit)}, and costs in another currency cannot be counted,`;
  }
  const before = spentIn(spent, currency);
  const isOver =
    cost === null
      ? before >= limit.microUnits
      : before > limit.microUnits - Math.max(0, cost.microUnits);
  return isOver ? moneyText(limit) : null;
}

/** `5.00 USD`: at least two digits after the point, and all that the amount has. */
export function moneyText({ microUnits, currency }: Money): string {
  const whole = Math.floor(microUnits / MICRO_UNITS);
  const rest = String(microUnits % MICRO_UNITS).padStart(FRACTION_DIGITS, "0");
  return `${whole}.${rest.replace(/0{1,4}$/, "")} ${currency}`;
}
