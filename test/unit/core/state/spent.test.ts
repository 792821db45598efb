import { describe, expect, test } from "vitest";
import {
  NOTHING_SPENT,
  type Spent,
  spentElsewhere,
  spentIn,
  withMoney,
} from "../../../../services/core/state/spent.ts";

const money = (microUnits: number, currency = "EUR") => ({ microUnits, currency });

describe("money", () => {
  test("is counted from one micro-unit on, by currency", () => {
    const one = withMoney(NOTHING_SPENT, money(1), 1);
    expect(one).toEqual([money(1)]);
    const both = withMoney(withMoney(one, money(5, "USD"), 1), money(2), 1);
    expect(both).toEqual([money(3), money(5, "USD")]);
    expect(withMoney(both, money(4, "USD"), -1)).toEqual([money(3), money(1, "USD")]);
    expect(withMoney(NOTHING_SPENT, money(0), 1)).toBe(NOTHING_SPENT);
  });

  test("is never below zero, and nothing is subtracted that was never spent", () => {
    expect(withMoney([money(1)], money(2), -1)).toEqual([money(0)]);
    expect(withMoney(NOTHING_SPENT, money(2), -1)).toBe(NOTHING_SPENT);
  });

  test("is counted in eight currencies, but not in a ninth", () => {
    let spent: Spent = NOTHING_SPENT;
    for (const digit of "123456789") spent = withMoney(spent, money(1, `CU${digit}`), 1);
    expect(spent).toHaveLength(8);
    expect([spentIn(spent, "CU8"), spentIn(spent, "CU9")]).toEqual([1, 0]);
  });

  test("is spent elsewhere with one micro-unit of another currency", () => {
    expect(spentElsewhere([money(1, "USD"), money(7)], "EUR")).toBe(true);
    expect(spentElsewhere([money(0, "USD"), money(7)], "EUR")).toBe(false);
  });
});
