/**
 * Bounds of a quantity: a number, an amount of money (`50 EUR`), a day (`2026-01-31`) or a time
 * (`2026-01-31T12:00:00Z`). Each compares exactly, and with its own kind alone.
 */
import type { JsonObject, JsonValue } from "../../canonical/json-value.ts";
import type { ValueCapabilities } from "../../capabilities.ts";
import { date, datetime } from "../../normalize/calendar.ts";
import type { Normalizer } from "../../normalize/normalizer.ts";
import { decimal } from "../../normalize/numbers.ts";
import { getArgument, isObject } from "../argument-path.ts";
import { compareDecimals } from "./decimals.ts";
import type { ValueAt } from "./document-path.ts";

export type Quantity =
  | { readonly kind: "number"; readonly number: string }
  | { readonly kind: "money"; readonly number: string; readonly currency: string }
  | { readonly kind: "day" | "time"; readonly text: string };

const MONEY = /^(\S+)\s+([A-Za-z]{3})$/;

/** Reads a bound of a policy; null: it is no quantity. */
export function readBound(
  bound: string | number,
  capabilities: ValueCapabilities,
): Quantity | null {
  const number = readDecimal(bound, capabilities);
  if (number !== null) return { kind: "number", number };
  return readMoneyText(bound, capabilities) ?? readMoment(bound, capabilities);
}

/** A number, or a text of decimal digits, in plain notation; null: it is neither. */
export function readDecimal(
  value: JsonValue | undefined,
  capabilities: ValueCapabilities,
): string | null {
  return textBy(decimal, value, capabilities);
}

function textBy(
  normalize: Normalizer,
  value: JsonValue | undefined,
  capabilities: ValueCapabilities,
): string | null {
  if (typeof value !== "string" && typeof value !== "number") return null;
  const result = normalize(value, capabilities);
  return result.ok && "value" in result ? String(result.value) : null;
}

function readMoneyText(
  value: JsonValue | undefined,
  capabilities: ValueCapabilities,
): Quantity | null {
  const [, amount, code = ""] = typeof value === "string" ? (MONEY.exec(value) ?? []) : [];
  const number = readDecimal(amount, capabilities);
  return number === null ? null : { kind: "money", number, currency: code.toUpperCase() };
}

function readMoment(
  value: JsonValue | undefined,
  capabilities: ValueCapabilities,
): Quantity | null {
  if (typeof value !== "string") return null;
  const day = textBy(date, value, capabilities);
  if (day !== null) return { kind: "day", text: day };
  const time = textBy(datetime, value, capabilities);
  // A time without an offset is no moment: it may be before and after another one.
  return time?.endsWith("Z") === true ? { kind: "time", text: time.slice(0, -1) } : null;
}

/** Where an amount's currency is: an argument of the call; null: the member `currency` beside it. */
type CurrencyPath = string | null;

/** Negative: the value is less than the bound. Null: the two cannot be compared. */
export function compareWith(
  bound: Quantity,
  at: ValueAt,
  args: JsonObject,
  currencyPath: CurrencyPath,
  capabilities: ValueCapabilities,
): number | null {
  if (bound.kind === "number") {
    const number = readDecimal(at.value, capabilities);
    return number === null ? null : compareDecimals(number, bound.number);
  }
  if (bound.kind === "money") {
    const money = readMoney(at, args, currencyPath, capabilities);
    if (money?.kind !== "money" || money.currency !== bound.currency) return null;
    return compareDecimals(money.number, bound.number);
  }
  const moment = readMoment(at.value, capabilities);
  if (moment === null || moment.kind !== bound.kind) return null;
  if (moment.text === bound.text) return 0;
  return moment.text < bound.text ? -1 : 1;
}

/**
 * `49.90 EUR`, a number beside its currency, or a map of `amount` and `currency`. `preset`: the currency
 * of an amount that has none; null: such an amount is no money.
 */
export function readMoney(
  { value, within }: ValueAt,
  args: JsonObject,
  currencyPath: CurrencyPath,
  capabilities: ValueCapabilities,
  preset: string | null = null,
): Quantity | null {
  const text = readMoneyText(value, capabilities);
  if (text !== null) return text;
  if (isObject(value)) {
    const [amount, code = preset ?? undefined] = [value["amount"], value["currency"]];
    return isObject(amount) ? null : withCurrency(amount, code, capabilities);
  }
  const code = currencyPath === null ? within?.["currency"] : getArgument(args, currencyPath);
  return withCurrency(value, code ?? preset ?? undefined, capabilities);
}

function withCurrency(
  amount: JsonValue | undefined,
  code: JsonValue | undefined,
  capabilities: ValueCapabilities,
): Quantity | null {
  const number = readDecimal(amount, capabilities);
  if (number === null || typeof code !== "string") return null;
  return { kind: "money", number, currency: code.trim().toUpperCase() };
}
